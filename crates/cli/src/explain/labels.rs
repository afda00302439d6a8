//! The labels in the explanation of a code.

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
    /// The labels of a language.
    pub const fn get(&self, language: Language) -> &Labels {
        match language {
            Language::English => &self.en,
            Language::Chinese => &self.zh,
        }
    }
}

/// The labels of lines and errors.
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
    /// The width of the label column, including spaces.
    pub width: usize,
    /// The last line of a list of all codes.
    pub next_step: &'static str,
    no_code: [&'static str; 2],
    did_you_mean: [&'static str; 2],
    list_all: &'static str,
    comma: &'static str,
}

impl Labels {
    /// Says that there is no such code, and suggests similar ones.
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

/// The width of a text in terminal columns.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Pads a text with spaces to a number of columns; Chinese characters take two.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}
