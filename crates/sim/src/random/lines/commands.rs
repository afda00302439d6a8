//! The lines of each resource.

use scarce_core::types::INTEGER_MAX;

use super::{ACCOUNTS, ASSETS, DAY_MS, HOLDS, LIMITS, MARKETS, OWNERS, RESERVATIONS, SKUS, Writer};

impl Writer {
    pub(super) fn account_line(&mut self) -> String {
        let (account, other) = (self.name(ACCOUNTS), self.name(ACCOUNTS));
        let (hold, amount) = (self.name(HOLDS), self.amount());
        let held = Self::recent(&mut self.random, &self.holds).unwrap_or((account, hold));
        match self.random.below(30) {
            0 | 1 => {
                let overdraft =
                    *self.random.pick(&["", " OVERDRAFT 5", " OVERDRAFT 100", " OVERDRAFT 9007199254740991"]);
                format!("ACCOUNT.OPEN {account} {}{overdraft}", self.name(ASSETS))
            }
            2..=5 => format!("ACCOUNT.CREDIT {account} {amount}"),
            6..=8 => format!("ACCOUNT.DEBIT {account} {amount}"),
            9..=12 => format!("ACCOUNT.TRANSFER {account} {other} {amount}"),
            13..=16 => {
                let ttl =
                    if self.random.percent(75) { format!(" TTL {}", self.ttl()) } else { String::new() };
                self.holds.push((account, hold));
                format!("ACCOUNT.HOLD {account} {hold} {amount}{ttl}")
            }
            17..=20 => self.capture_line(held.0, held.1, other, amount),
            21..=22 => format!("ACCOUNT.VOID {} {}", held.0, held.1),
            23 => format!("ACCOUNT.EXTEND {} {} {}", held.0, held.1, self.ttl()),
            24 => format!("ACCOUNT.FREEZE {account}"),
            25 | 26 => format!("ACCOUNT.UNFREEZE {account}"),
            27 => format!("ACCOUNT.CLOSE {other}"),
            _ => {
                let overdraft = *self.random.pick(&[0, 0, 5, amount]);
                format!("ACCOUNT.OVERDRAFT {account} {overdraft}")
            }
        }
    }

    pub(super) fn capture_line(&mut self, account: &str, hold: &str, to: &str, amount: u64) -> String {
        let mut line = format!("ACCOUNT.CAPTURE {account} {hold}");
        if self.random.percent(60) {
            line.push_str(&format!(" AMOUNT {amount}"));
        }
        if self.random.percent(50) {
            line.push_str(&format!(" TO {to}"));
        }
        if self.random.percent(40) {
            line.push_str(" KEEPREST");
        }
        line
    }

    /// The options `START` and `END`, close enough to be reached.
    pub(super) fn times(&mut self) -> String {
        let mut options = String::new();
        let start = self.clock + *self.random.pick(&[0, 1, 5, 1_000, DAY_MS]);
        if self.random.percent(20) {
            options.push_str(&format!(" START {start}"));
            self.deadlines.extend([start, start]);
        }
        if self.random.percent(12) {
            let end = start + *self.random.pick(&[1, 5_000, DAY_MS, 30 * DAY_MS]);
            options.push_str(&format!(" END {end}"));
            self.deadlines.extend([end, end]);
        }
        options
    }

    pub(super) fn stock_line(&mut self) -> String {
        let (sku, reservation, owner) = (self.name(SKUS), self.name(RESERVATIONS), self.name(OWNERS));
        let amount = self.amount();
        let set_aside = Self::recent(&mut self.random, &self.reservations).unwrap_or((sku, reservation));
        match self.random.below(30) {
            0 | 1 => {
                let owner_max = *self.random.pick(&["", "", " PEROWNER 3", " PEROWNER 10"]);
                let quantity = *self.random.pick(&[0, 5, amount]);
                format!("STOCK.CREATE {sku} {quantity}{owner_max}{}", self.times())
            }
            2 | 3 => format!("STOCK.RESTOCK {sku} {amount}"),
            4 | 5 => {
                let sign = *self.random.pick(&["", "-", "-"]);
                format!("STOCK.ADJUST {sku} {sign}{amount} REASON counted")
            }
            6..=10 => format!("STOCK.TAKE {sku} {amount} {owner}"),
            11..=15 => {
                self.reservations.push((sku, reservation));
                format!("STOCK.RESERVE {sku} {reservation} {amount} {owner} {}", self.ttl())
            }
            16..=18 => format!("STOCK.CONFIRM {} {}", set_aside.0, set_aside.1),
            19..=21 => format!("STOCK.RELEASE {} {}", set_aside.0, set_aside.1),
            22 => format!("STOCK.EXTEND {} {} {}", set_aside.0, set_aside.1, self.ttl()),
            23..=26 => {
                let (first, count) = (1 + self.random.below(12), 1 + self.random.below(3));
                format!("STOCK.RETURN {sku} {first} {count}")
            }
            27 if self.random.percent(10) => format!("STOCK.CLOSE {sku}"),
            _ => format!("STOCK.AUDIT {sku}"),
        }
    }

    pub(super) fn cut(&mut self) -> String {
        if self.random.percent(50) {
            let count = 1 + self.random.below(7);
            let amounts: Vec<String> = (0..count).map(|_| (1 + self.random.below(9)).to_string()).collect();
            return format!("AMOUNTS {count} {}", amounts.join(" "));
        }
        let count = 1 + self.random.below(8);
        let total = count * 3 + self.random.below(100);
        let method = *self.random.pick(&["EVEN", "DOUBLE_MEAN", "LINE_CUT"]);
        let bounds =
            *self.random.pick(&["", "", " MIN 2", " MIN 3", " MIN 1 MAX 200", " MAX 9007199254740991"]);
        format!("PLAN {total} {count} {method}{bounds}")
    }

    pub(super) fn packet_line(&mut self) -> String {
        let (campaign, user) = (self.campaign(), format!("u{}", self.random.below(9)));
        match self.random.below(12) {
            0..=2 => {
                let cut = self.cut();
                self.campaigns += u64::from(self.random.percent(80));
                let campaign = format!("g{}", self.campaigns);
                format!("PACKET.CREATE {campaign} {} {cut}{}", self.name(ASSETS), self.times())
            }
            3 if self.random.percent(40) => format!("PACKET.CLOSE {campaign}"),
            _ => format!("PACKET.CLAIM {campaign} {user}"),
        }
    }

    pub(super) fn limit(&mut self, name: &str, shaped: bool) -> String {
        let max = *self.random.pick(&[0, 1, 2, 3, 5, 20, 20, INTEGER_MAX]);
        if !shaped {
            return format!("{name} {max}");
        }
        let per = *self.random.pick(&["-", "user", "user", "device", "user+store", "store,device"]);
        let window = *self.random.pick(&[
            "none",
            "none",
            "hour",
            "day",
            "week",
            "month",
            "1000",
            "5",
            "3600000",
            "9007199254740991",
            "day OFFSET 330",
            "day OFFSET -1080",
            "hour OFFSET 45",
            "week OFFSET 1080",
            "month OFFSET -600",
        ]);
        format!("{name} {max} PER {per} WINDOW {window}")
    }

    pub(super) fn limits(&mut self, shaped_percent: u64) -> String {
        let mut text = String::new();
        let from = self.random.below(2);
        for name in LIMITS
            .iter()
            .skip(usize::try_from(from).unwrap_or(0))
            .take(1 + usize::from(self.random.percent(50)))
        {
            let shaped = self.random.percent(shaped_percent);
            text.push_str(&format!(" LIMIT {}", self.limit(name, shaped)));
        }
        text
    }

    pub(super) fn serial(&mut self) -> u64 {
        let bound = *self.random.pick(&[2, 4, 12]);
        1 + self.random.below(bound)
    }

    pub(super) fn subject(&mut self) -> String {
        let mut text = format!("USER {}", self.name(OWNERS));
        if self.random.percent(70) {
            text.push_str(&format!(" device {}", self.random.pick(&["d1", "d2"])));
        }
        if self.random.percent(70) {
            text.push_str(&format!(" store {}", self.random.pick(&["s1", "s2"])));
        }
        text
    }

    pub(super) fn coupon_line(&mut self) -> String {
        let (coupon, serial) = (self.coupon(), self.serial());
        match self.random.below(30) {
            0..=2 => {
                let ttl =
                    if self.random.percent(60) { format!(" CLAIMTTL {}", self.ttl()) } else { String::new() };
                self.coupons += u64::from(self.random.percent(80));
                let coupon = format!("k{}", self.coupons);
                format!("COUPON.CREATE {coupon}{}{}{ttl}", self.limits(100), self.times())
            }
            3 | 4 => format!("COUPON.UPDATE {coupon}{}", self.limits(40)),
            5..=18 => {
                // May add the time for which the claim can be used.
                self.ttl();
                format!("COUPON.CLAIM {coupon} {}", self.subject())
            }
            19..=22 => format!("COUPON.REDEEM {coupon} {serial} {}", self.name(OWNERS)),
            23..=26 => {
                let back = *self.random.pick(&["", " GIVEBACK", " GIVEBACK"]);
                format!("COUPON.REVOKE {coupon} {serial}{back}")
            }
            27 => format!("COUPON.PAUSE {coupon}"),
            _ => format!("COUPON.RESUME {coupon}"),
        }
    }

    pub(super) fn order(&mut self) -> String {
        format!("w{}", self.orders.saturating_sub(self.random.below(12)))
    }

    pub(super) fn price(&mut self) -> u64 {
        match self.random.below(30) {
            0 => self.amount(),
            1 => 1,
            2..=4 => *self.random.pick(&[1, 100]),
            5 => 10 * (1 + self.random.below(3)),
            _ => 8 + self.random.below(6),
        }
    }

    pub(super) fn quantity(&mut self) -> u64 {
        match self.random.below(20) {
            0..=15 => 1 + self.random.below(10),
            16..=18 => 10 + self.random.below(60),
            _ => self.amount(),
        }
    }

    pub(super) fn market_line(&mut self) -> String {
        let (market, owner, order) = (self.name(MARKETS), self.name(OWNERS), self.order());
        let (price, quantity) = (self.price(), self.quantity());
        let usual = (market.to_owned(), order, owner.to_owned(), price, quantity);
        let known = Self::recent(&mut self.random, &self.placed).unwrap_or(usual);
        match self.random.below(40) {
            0 | 1 => {
                let rules = *self.random.pick(&[
                    "",
                    " TICK 2 LOT 2",
                    " MINQTY 2 MAXQTY 12",
                    " LOT 5 MINQTY 5 TICK 10",
                ]);
                format!("MARKET.CREATE {market}{rules}")
            }
            2 if self.random.percent(25) => format!("MARKET.HALT {market}"),
            3 | 4 => format!("MARKET.RESUME {market}"),
            5 | 6 => format!("ORDER.CANCEL {} {} {}", known.0, known.1, known.2),
            7..=9 => format!("ORDER.REDUCE {} {} {} {quantity}", known.0, known.1, known.2),
            10..=14 => {
                let price = *self.random.pick(&[price, known.3, known.3]);
                let quantity = *self.random.pick(&[quantity, known.4, known.4 - known.4 / 3]);
                format!("ORDER.REPLACE {} {} {} {price} {quantity}", known.0, known.1, known.2)
            }
            15 => format!("ORDER.CANCELALL {market} {owner}"),
            _ => self.place_line(market, owner, price, quantity),
        }
    }

    pub(super) fn place_line(&mut self, market: &str, owner: &str, price: u64, quantity: u64) -> String {
        self.orders += u64::from(self.random.percent(95));
        let order = self.orders;
        self.placed.push((market.to_owned(), format!("w{order}"), owner.to_owned(), price, quantity));
        let side = *self.random.pick(&["BUY", "SELL"]);
        let (pricing, tifs): (String, &[&str]) = if self.random.percent(15) {
            ("MARKET".to_owned(), &["", " TIF IOC", " TIF FOK"])
        } else {
            (format!("LIMIT {price}"), &["", "", "", " TIF GTC", " TIF IOC", " TIF FOK", " TIF POST"])
        };
        let tif = *self.random.pick(tifs);
        let stp = *self.random.pick(&[
            "",
            "",
            "",
            " STP CANCEL_TAKER",
            " STP CANCEL_MAKER",
            " STP CANCEL_BOTH",
            " STP DECREMENT",
        ]);
        format!("ORDER.PLACE {market} w{order} {owner} {side} {pricing} {quantity}{tif}{stp}")
    }
}
