// Which page is shown: the part of the address behind '#', so that the server has one page only.

export interface Route {
  page: string
  /** The parts behind the page, decoded. */
  parts: string[]
  query: URLSearchParams
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // An address that someone typed may have a stray '%'.
    return part
  }
}

function read(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [page = '', ...parts] = path.split('/').map(decoded)
  return { page: page || 'overview', parts: parts.filter((part) => part !== ''), query: new URLSearchParams(query) }
}

class Router {
  route: Route = $state.raw(read(location.hash))

  constructor() {
    addEventListener('hashchange', () => {
      this.route = read(location.hash)
    })
  }
}

export const router = new Router()

/** The address of a page. */
export function to(page: string, ...parts: (string | number)[]): string {
  return ['#', page, ...parts.map((part) => encodeURIComponent(String(part)))].join('/')
}

export function go(address: string): void {
  location.hash = address
}
