//! Which commands are administrative acts: the rows of the command table say so by their verb.

use scarce_core::command::CommandSpec;
use scarce_core::command::rules::Verb;

/// Commands that bring in what there is to take as part of ordinary traffic: the log of events has them.
const OF_TRAFFIC: [&str; 1] = ["ACCOUNT.CREDIT"];

/// Whether a command is an administrative act.
#[inline]
#[must_use]
pub fn is_administrative(spec: &CommandSpec) -> bool {
    match spec.verb() {
        Verb::Administrate => true,
        Verb::Create => !OF_TRAFFIC.contains(&spec.name),
        Verb::Read | Verb::Take | Verb::Settle | Verb::Operate | Verb::Any => false,
    }
}

#[cfg(test)]
mod tests {
    use scarce_core::command::COMMANDS;

    use super::*;

    #[test]
    fn what_creates_or_administrates_is_an_act_and_what_takes_is_not() {
        let acts: Vec<&str> =
            COMMANDS.iter().filter(|spec| is_administrative(spec)).map(|spec| spec.name).collect();
        for name in
            ["ACCOUNT.OPEN", "ACCOUNT.FREEZE", "STOCK.CREATE", "STOCK.ADJUST", "COUPON.UPDATE", "MARKET.HALT"]
        {
            assert!(acts.contains(&name), "{name}");
        }
        for name in ["ACCOUNT.CREDIT", "STOCK.TAKE", "STOCK.GET", "ORDER.PLACE", "COUPON.REDEEM"] {
            assert!(!acts.contains(&name), "{name}");
        }
        assert!(OF_TRAFFIC.iter().all(|name| COMMANDS.iter().any(|spec| spec.name == *name)));
    }
}
