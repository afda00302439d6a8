//! The words around what a code says.

use scarce_api::glossary::Language;
use unicode_width::UnicodeWidthStr;

/// The labels of both languages.
pub const LABELS: Both = Both { en: ENGLISH, zh: CHINESE };

/// Labels in each language.
pub struct Both {
    en: Labels,
    zh: Labels,
}

impl Both {
    /// Those of a language.
    pub const fn get(&self, language: Language) -> &Labels {
        match language {
            Language::English => &self.en,
            Language::Chinese => &self.zh,
        }
    }
}

/// What stands before each line, and around errors.
pub struct Labels {
    pub code: &'static str,
    pub number: &'static str,
    pub kind: &'static str,
    pub cause: &'static str,
    pub advice: &'static str,
    pub again: &'static str,
    pub resp: &'static str,
    pub http: &'static str,
    pub facts: &'static str,
    pub commands: &'static str,
    /// How many columns a label takes, with the blanks after it.
    pub width: usize,
    /// What a list of all ends with.
    pub next_step: &'static str,
    no_code: [&'static str; 2],
    did_you_mean: [&'static str; 2],
    list_all: &'static str,
    comma: &'static str,
}

impl Labels {
    /// That there is no such code, and which it may have been.
    pub fn unknown(&self, word: &str, near: &[&str]) -> String {
        let [before, after] = self.no_code;
        let hint = if near.is_empty() {
            self.list_all.to_owned()
        } else {
            let [before, after] = self.did_you_mean;
            format!("{before}{}{after}", near.join(self.comma))
        };
        format!("{before}{word}{after}{hint}")
    }
}

const ENGLISH: Labels = Labels {
    code: "code",
    number: "number",
    kind: "kind",
    cause: "what happened",
    advice: "what to do",
    again: "try again?",
    resp: "over RESP",
    http: "over HTTP",
    facts: "facts",
    commands: "answered by",
    width: 16,
    next_step: "'scarce explain CODE' says what to do about one",
    no_code: ["there is no code '", "'; "],
    did_you_mean: ["did you mean ", "?"],
    list_all: "'scarce explain' lists all",
    comma: ", ",
};

const CHINESE: Labels = Labels {
    code: "结果码",
    number: "编号",
    kind: "类别",
    cause: "发生了什么",
    advice: "如何处理",
    again: "能否重试",
    resp: "RESP 形式",
    http: "HTTP 状态",
    facts: "附带数据",
    commands: "哪些命令",
    width: 12,
    next_step: "用 'scarce explain 结果码' 查看某一个的处理办法",
    no_code: ["没有结果码 '", "'；"],
    did_you_mean: ["是否想查 ", "？"],
    list_all: "用 'scarce explain' 列出全部",
    comma: "、",
};

/// How many columns of a terminal a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// A text with blanks up to a number of columns; characters of Chinese take two.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}
