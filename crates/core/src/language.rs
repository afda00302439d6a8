//! The languages of texts for people, and texts in each of them.

/// A language of texts for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese, as written in mainland China.
    Chinese,
}

impl Language {
    /// Every language.
    pub const ALL: &'static [Self] = &[Self::English, Self::Chinese];

    /// The language of a tag such as `en`, `zh-CN` or `zh_CN.UTF-8`; `None` for any other language.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_', '.', '@']).next().unwrap_or_default();
        match () {
            () if primary.eq_ignore_ascii_case("en") => Some(Self::English),
            () if primary.eq_ignore_ascii_case("zh") => Some(Self::Chinese),
            () => None,
        }
    }

    /// The tag, as HTTP and HTML write it.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
        }
    }
}

/// A text in every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// In English.
    pub en: &'static str,
    /// In Chinese.
    pub zh: &'static str,
}

impl Text {
    /// A text from its translations.
    #[must_use]
    pub const fn new(en: &'static str, zh: &'static str) -> Self {
        Self { en, zh }
    }

    /// The text in a language.
    #[must_use]
    pub const fn get(self, language: Language) -> &'static str {
        match language {
            Language::English => self.en,
            Language::Chinese => self.zh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_locales_name_languages() {
        for (tag, language) in [
            ("en", Some(Language::English)),
            ("EN-us", Some(Language::English)),
            ("zh-CN", Some(Language::Chinese)),
            ("zh_CN.UTF-8", Some(Language::Chinese)),
            ("zh-Hans", Some(Language::Chinese)),
            ("C.UTF-8", None),
            ("zha", None),
            ("", None),
        ] {
            assert_eq!(Language::from_tag(tag), language, "{tag}");
        }
        for language in Language::ALL {
            assert_eq!(Language::from_tag(language.tag()), Some(*language));
        }
    }
}
