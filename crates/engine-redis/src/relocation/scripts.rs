//! What is done to the hash of a deployment that moves, in one step each.

/// Takes the prefix, unless there is anything.
pub(super) const BEGIN: &str = "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end \
    redis.call('HSET', KEYS[1], unpack(ARGV)) return 1";

/// Gives the deployment its ID.
pub(super) const OPEN: &str = "if redis.call('HGET', KEYS[1], 'arriving') ~= ARGV[1] then return 0 end \
    redis.call('HSET', KEYS[1], 'begun', '1', 'deployment_id', redis.call('HGET', KEYS[1], 'arriving_deployment')) \
    redis.call('HDEL', KEYS[1], 'arriving', 'arriving_from', 'arriving_deployment') return 1";

/// Removes it, while it has none.
pub(super) const DISCARD: &str = "if redis.call('HGET', KEYS[1], 'arriving') ~= ARGV[1] then return 0 end \
    return redis.call('DEL', KEYS[1])";
