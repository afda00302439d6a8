//! `scarce explain` as users see it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use scarce_core::outcome::Code;
use std::process::Stdio;

use support::scarce;

/// Exit code, stdout and stderr with locale variables.
fn explain(arguments: &[&str], locale: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut command = scarce();
    for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
        command.env_remove(name);
    }
    let output = command.arg("explain").args(arguments).envs(locale.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_code_is_explained_in_english() {
    let (exit, text, _) = explain(&["sold_out"], &[]);
    assert_eq!(exit, Some(0));
    let expected = "\
SOLD_OUT (number 209, refusal)
  what happened   No unit is left.
  what to do      Units may come back from reservations; watch stock.available_again.
  try again?      yes, later, with the same ID or a new one: this refusal is not remembered
  over RESP       [0, \"SOLD_OUT\", available, requested]
  over HTTP       409
  facts           available     units available (units)
                  requested     units requested (units)
  answered by     STOCK.TAKE, STOCK.RESERVE
";
    assert_eq!(text, expected);
}

#[test]
fn a_code_is_explained_in_chinese() {
    let (exit, text, _) = explain(&["INSUFFICIENT_FUNDS", "--lang", "zh"], &[]);
    assert_eq!(exit, Some(0));
    let expected = "\
INSUFFICIENT_FUNDS (编号 112, 业务拒绝)
  发生了什么  算上透支额度，可用金额仍不足。
  如何处理    先入账，或减小金额。
  能否重试    可以稍后重试，但要换新 ID：这类拒绝会被记录，同一 ID 的重复请求只会得到同样的拒绝
  RESP 形式   [0, \"INSUFFICIENT_FUNDS\", account, available, requested]
  HTTP 状态   409
  附带数据    account       账户 ID
              available     可用余额 = 余额 − 预扣，不含透支额度，可能为负（最小货币单位）
              requested     请求的金额（最小货币单位）
  哪些命令    ACCOUNT.DEBIT, ACCOUNT.TRANSFER, ACCOUNT.HOLD
";
    assert_eq!(text, expected);
}

#[test]
fn the_first_locale_that_is_set_decides_and_a_flag_before_all() {
    for (arguments, locale, is_chinese) in [
        (vec![], vec![("LANG", "zh_CN.UTF-8")], true),
        (vec![], vec![("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C.UTF-8")], false),
        (vec![], vec![("LANG", "en_US.UTF-8"), ("LC_MESSAGES", "zh_CN")], true),
        (vec![], vec![("LANG", "zh_CN"), ("LC_ALL", "")], true),
        (vec![], vec![], false),
        (vec!["--lang", "en"], vec![("LC_ALL", "zh_CN.UTF-8")], false),
        (vec!["--lang", "zh-CN"], vec![("LC_ALL", "en_GB.UTF-8")], true),
    ] {
        let arguments: Vec<&str> = ["UNKNOWN"].into_iter().chain(arguments).collect();
        let (exit, text, _) = explain(&arguments, &locale);
        assert_eq!(exit, Some(0));
        assert_eq!(text.contains("能否重试"), is_chinese, "{arguments:?} {locale:?}: {text}");
        assert_ne!(text.contains("try again?"), is_chinese, "{arguments:?} {locale:?}: {text}");
    }
}

#[test]
fn an_unknown_code_is_a_usage_error_that_names_the_nearest() {
    let (exit, text, message) = explain(&["SOLDOUT"], &[]);
    assert_eq!((exit, text.as_str()), (Some(2), ""));
    assert!(message.contains("there is no code 'SOLDOUT'; did you mean SOLD_OUT?"), "{message}");
    let (exit, _, message) = explain(&["ACOUNT_NOTFOUND", "--lang", "zh"], &[]);
    assert_eq!(exit, Some(2));
    assert!(message.contains("没有结果码 'ACOUNT_NOTFOUND'；是否想查 ACCOUNT_NOT_FOUND"), "{message}");
    let (exit, _, message) = explain(&["--lang", "fr", "SOLD_OUT"], &[]);
    assert_eq!(exit, Some(2));
    assert!(message.contains("texts are in en and zh"), "{message}");
}

#[test]
fn without_a_code_all_are_listed() {
    let (exit, text, message) = explain(&[], &[]);
    assert_eq!(exit, Some(0));
    assert!(message.contains("scarce explain CODE"), "{message}");
    assert_eq!(text.lines().count(), 1 + Code::ALL.len());
    for (line, code) in text.lines().skip(1).zip(Code::ALL) {
        assert!(line.starts_with(code.word()) && line.ends_with(code.cause().en), "{line}");
    }
    let (_, text, _) = explain(&["--lang", "zh"], &[]);
    assert!(Code::ALL.iter().zip(text.lines().skip(1)).all(|(code, line)| line.ends_with(code.cause().zh)));
}

#[test]
fn json_says_the_same() {
    let (exit, text, _) = explain(&["OVERLOADED", "--json", "--lang", "zh"], &[]);
    assert_eq!(exit, Some(0));
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["kind"], "failure");
    assert_eq!(found["again"], "same_id");
    assert_eq!(found["http_status"], 503);
    assert_eq!(found["resp"], "-OVERLOADED …");
    assert_eq!(found["language"], "zh-CN");
    assert_eq!(found["cause"], Code::Overloaded.cause().zh);
    assert_eq!(found["facts"][0]["name"], "queue");
    assert_eq!(found["answered_by"], "所有命令");
    let (_, text, _) = explain(&["--json"], &[]);
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(all.as_array().map(Vec::len), Some(Code::ALL.len()));
}

#[test]
fn a_reader_who_has_enough_is_no_failure() {
    let mut child = scarce().arg("explain").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The pipe's buffer is too small, and the reader is gone.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("pipe"), "{output:?}");
}
