//! The table of routes: which method and path belong to which command. A name in braces is an argument of
//! the command; arguments that are not in the path are in the body, or in the query of `GET` and
//! `DELETE`.

use scarce_core::command::{CommandSpec, Effect, table};

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates or acts.
    Post,
    /// Changes parts.
    Patch,
    /// Removes.
    Delete,
}

impl Method {
    /// The method as HTTP writes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether arguments come in a body.
    #[must_use]
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Patch)
    }
}

/// A route of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with arguments in braces.
    pub path: &'static str,
    /// The status of success: 201 if the request creates something that can be queried.
    pub success_status: u16,
    /// The command's name.
    pub command: &'static str,
}

impl Route {
    /// The command's row of the table; a test looks up every name.
    #[must_use]
    pub fn spec(&self) -> Option<&'static CommandSpec> {
        table::find(self.command.as_bytes())
    }

    /// The arguments that are in the path, in order.
    pub fn path_arguments(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Whether the command changes state.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.spec().is_some_and(|spec| spec.effect == Effect::Write)
    }
}

/// The route of a command.
#[must_use]
pub fn of(command: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.command == command)
}

macro_rules! routes {
    ($($method:ident $status:literal $path:literal $command:literal;)*) => {
        /// Every route that stands for a command.
        pub static ROUTES: &[Route] =
            &[$(Route { method: Method::$method, path: $path, success_status: $status, command: $command }),*];
    };
}

routes! {
    Post 201 "/v1/accounts" "ACCOUNT.OPEN";
    Get 200 "/v1/accounts" "ACCOUNT.LIST";
    Get 200 "/v1/accounts/{account}" "ACCOUNT.GET";
    Post 200 "/v1/accounts/{account}/credit" "ACCOUNT.CREDIT";
    Post 200 "/v1/accounts/{account}/debit" "ACCOUNT.DEBIT";
    Post 200 "/v1/transfers" "ACCOUNT.TRANSFER";
    Post 201 "/v1/accounts/{account}/holds" "ACCOUNT.HOLD";
    Get 200 "/v1/accounts/{account}/holds" "ACCOUNT.HOLDS";
    Post 200 "/v1/accounts/{account}/holds/{hold}/capture" "ACCOUNT.CAPTURE";
    Post 200 "/v1/accounts/{account}/holds/{hold}/void" "ACCOUNT.VOID";
    Post 200 "/v1/accounts/{account}/holds/{hold}/extend" "ACCOUNT.EXTEND";
    Post 200 "/v1/accounts/{account}/freeze" "ACCOUNT.FREEZE";
    Post 200 "/v1/accounts/{account}/unfreeze" "ACCOUNT.UNFREEZE";
    Post 200 "/v1/accounts/{account}/close" "ACCOUNT.CLOSE";
    Post 200 "/v1/accounts/{account}/overdraft" "ACCOUNT.OVERDRAFT";
    Get 200 "/v1/worlds/{asset}" "ACCOUNT.WORLD";

    Post 201 "/v1/stock" "STOCK.CREATE";
    Get 200 "/v1/stock" "STOCK.LIST";
    Get 200 "/v1/stock/{sku}" "STOCK.GET";
    Post 200 "/v1/stock/{sku}/restock" "STOCK.RESTOCK";
    Post 200 "/v1/stock/{sku}/adjust" "STOCK.ADJUST";
    Post 200 "/v1/stock/{sku}/take" "STOCK.TAKE";
    Post 200 "/v1/stock/{sku}/return" "STOCK.RETURN";
    Post 200 "/v1/stock/{sku}/close" "STOCK.CLOSE";
    Post 200 "/v1/stock/{sku}/audit" "STOCK.AUDIT";
    Post 201 "/v1/stock/{sku}/reservations" "STOCK.RESERVE";
    Get 200 "/v1/stock/{sku}/reservations/{reservation}" "STOCK.RESERVATION";
    Post 200 "/v1/stock/{sku}/reservations/{reservation}/confirm" "STOCK.CONFIRM";
    Post 200 "/v1/stock/{sku}/reservations/{reservation}/release" "STOCK.RELEASE";
    Post 200 "/v1/stock/{sku}/reservations/{reservation}/extend" "STOCK.EXTEND";

    Post 201 "/v1/packets" "PACKET.CREATE";
    Get 200 "/v1/packets" "PACKET.LIST";
    Get 200 "/v1/packets/{campaign}" "PACKET.GET";
    Post 201 "/v1/packets/{campaign}/claims" "PACKET.CLAIM";
    Get 200 "/v1/packets/{campaign}/claims" "PACKET.CLAIMS";
    Get 200 "/v1/packets/{campaign}/claims/{user}" "PACKET.CLAIMED";
    Post 200 "/v1/packets/{campaign}/close" "PACKET.CLOSE";

    Post 201 "/v1/coupons" "COUPON.CREATE";
    Get 200 "/v1/coupons" "COUPON.LIST";
    Get 200 "/v1/coupons/{coupon}" "COUPON.GET";
    Patch 200 "/v1/coupons/{coupon}" "COUPON.UPDATE";
    Post 201 "/v1/coupons/{coupon}/claims" "COUPON.CLAIM";
    Post 200 "/v1/coupons/{coupon}/check" "COUPON.CHECK";
    Get 200 "/v1/coupons/{coupon}/claims/{serial}" "COUPON.CLAIMED";
    Post 200 "/v1/coupons/{coupon}/claims/{serial}/redeem" "COUPON.REDEEM";
    Post 200 "/v1/coupons/{coupon}/claims/{serial}/revoke" "COUPON.REVOKE";
    Post 200 "/v1/coupons/{coupon}/pause" "COUPON.PAUSE";
    Post 200 "/v1/coupons/{coupon}/resume" "COUPON.RESUME";

    Post 201 "/v1/markets" "MARKET.CREATE";
    Get 200 "/v1/markets" "MARKET.LIST";
    Get 200 "/v1/markets/{market}" "MARKET.GET";
    Get 200 "/v1/markets/{market}/depth" "MARKET.DEPTH";
    Get 200 "/v1/markets/{market}/trades" "MARKET.TRADES";
    Get 200 "/v1/markets/{market}/ticker" "MARKET.TICKER";
    Post 200 "/v1/markets/{market}/halt" "MARKET.HALT";
    Post 200 "/v1/markets/{market}/resume" "MARKET.RESUME";
    Get 200 "/v1/markets/{market}/orders" "ORDER.LIST";
    Post 201 "/v1/markets/{market}/orders" "ORDER.PLACE";
    Delete 200 "/v1/markets/{market}/orders" "ORDER.CANCELALL";
    Get 200 "/v1/markets/{market}/orders/{order}" "ORDER.GET";
    Delete 200 "/v1/markets/{market}/orders/{order}" "ORDER.CANCEL";
    Post 200 "/v1/markets/{market}/orders/{order}/reduce" "ORDER.REDUCE";
    Post 200 "/v1/markets/{market}/orders/{order}/replace" "ORDER.REPLACE";

    Get 200 "/v1/operations/{operation}" "OPERATION.GET";
    Post 200 "/v1/operations/{operation}/resolve" "OPERATION.RESOLVE";
    Get 200 "/v1/digest" "DIGEST";
}

#[cfg(test)]
mod tests {
    use super::*;
    use scarce_core::command::COMMANDS;

    #[test]
    fn every_command_has_one_route_and_every_route_a_command() {
        for spec in COMMANDS {
            let routes = ROUTES.iter().filter(|route| route.command == spec.name).count();
            assert_eq!(routes, 1, "{}", spec.name);
        }
        for route in ROUTES {
            let spec = route.spec().unwrap_or_else(|| panic!("{} is no command", route.command));
            for argument in route.path_arguments() {
                let known = spec.arguments.iter().any(|its| its.name == argument && !its.optional);
                assert!(known, "{} has no argument {argument}", route.command);
            }
            assert!(
                route.method.has_body() || route.method == Method::Delete || spec.effect == Effect::Read,
                "{} changes something by {}",
                route.command,
                route.method.word(),
            );
        }
    }

    #[test]
    fn no_two_routes_are_the_same() {
        for (at, route) in ROUTES.iter().enumerate() {
            let again =
                ROUTES[at + 1..].iter().any(|its| (its.method, its.path) == (route.method, route.path));
            assert!(!again, "{} {}", route.method.word(), route.path);
        }
    }
}
