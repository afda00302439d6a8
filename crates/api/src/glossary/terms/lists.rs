//! What names mean in lists of resources.

use super::{Term, word};

pub(super) const TERMS: &[Term] = &[
    word("", "prefix", "what the names begin with; all names by default", "名称的开头；不填则返回全部"),
    word("", "accounts", "accounts in the order of their names", "账户，按名称顺序"),
    word("", "items", "stock items in the order of their names", "商品，按名称顺序"),
    word("", "campaigns", "campaigns in the order of their names", "红包活动，按名称顺序"),
    word("", "coupons", "coupons in the order of their names", "优惠券，按名称顺序"),
    word("", "markets", "markets in the order of their names", "市场，按名称顺序"),
    word(
        "ACCOUNT.LIST",
        "count",
        "maximum accounts on a page; 100 by default, 10000 at most",
        "每页最多返回多少个账户，默认 100，最多 10000",
    ),
    word(
        "STOCK.LIST",
        "count",
        "maximum stock items on a page; 100 by default, 10000 at most",
        "每页最多返回多少个商品，默认 100，最多 10000",
    ),
    word(
        "PACKET.LIST",
        "count",
        "maximum campaigns on a page; 100 by default, 10000 at most",
        "每页最多返回多少个活动，默认 100，最多 10000",
    ),
    word(
        "COUPON.LIST",
        "count",
        "maximum coupons on a page; 100 by default, 10000 at most",
        "每页最多返回多少个优惠券，默认 100，最多 10000",
    ),
    word(
        "MARKET.LIST",
        "count",
        "maximum markets on a page; 100 by default, 10000 at most",
        "每页最多返回多少个市场，默认 100，最多 10000",
    ),
];
