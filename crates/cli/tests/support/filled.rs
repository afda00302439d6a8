//! A server with something of everything on it.

use serde_json::json;

use super::Server;

/// Makes something of everything, over HTTP, and waits until it has flowed out.
pub fn fill(server: &Server) {
    let mut http = server.http();
    for (path, body) in [
        ("/v1/accounts", json!({ "account": "u1", "asset": "EUR" })),
        ("/v1/accounts/u1/credit", json!({ "amount": 500 })),
        ("/v1/accounts/u1/debit", json!({ "amount": 120 })),
        ("/v1/stock", json!({ "sku": "sku-1", "quantity": 10 })),
        ("/v1/stock/sku-1/take", json!({ "quantity": 3, "owner": "u1" })),
        ("/v1/coupons", json!({ "coupon": "k1", "limits": [{ "name": "all", "max": 5 }] })),
    ] {
        let answer = http.post(path, &body);
        assert!(answer.status < 300, "{path}: {answer:?}");
    }
    server.wait_until_drained();
}
