// What a person prefers, kept in this browser: nothing of it is secret.

export type Language = 'en' | 'zh'
export type Theme = 'auto' | 'light' | 'dark'
/** The colour of rising prices: green in most of the world, red in China. */
export type Rise = 'green' | 'red'

const PLACE = 'scarce.console'

interface Kept {
  language?: Language
  theme?: Theme
  rise?: Rise
}

function kept(): Kept {
  try {
    return JSON.parse(localStorage.getItem(PLACE) ?? '{}') as Kept
  } catch {
    // Storage may be forbidden, or hold something else.
    return {}
  }
}

class Preferences {
  language: Language = $state('en')
  theme: Theme = $state('auto')
  rise: Rise = $state('green')
  /** What 'auto' means now. */
  #systemIsDark = $state(false)

  constructor() {
    const found = kept()
    this.language = found.language ?? (navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en')
    this.theme = found.theme ?? 'auto'
    this.rise = found.rise ?? (this.language === 'zh' ? 'red' : 'green')
    const dark = matchMedia('(prefers-color-scheme: dark)')
    this.#systemIsDark = dark.matches
    dark.addEventListener('change', () => (this.#systemIsDark = dark.matches))
  }

  get isDark(): boolean {
    return this.theme === 'auto' ? this.#systemIsDark : this.theme === 'dark'
  }

  /** Applies them to the page, and keeps them. */
  apply(): void {
    const root = document.documentElement
    root.lang = this.language === 'zh' ? 'zh-CN' : 'en'
    root.dataset.theme = this.isDark ? 'dark' : 'light'
    root.dataset.rise = this.rise
    try {
      localStorage.setItem(PLACE, JSON.stringify({ language: this.language, theme: this.theme, rise: this.rise }))
    } catch {
      // They last as long as the page, then.
    }
  }
}

export const preferences = new Preferences()
