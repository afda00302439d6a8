//! All keys of a deployment. Those that are over stay in it, so that a deployment whose last key was revoked is not open to
//! everyone.

use std::collections::{BTreeMap, BTreeSet};

use scarce_core::types::TimeMs;
use serde_json::{Value, json};

use super::key::{Asked, Key, KeyError, Standing, damaged};
use super::scope::Scope;
use super::secret::{KeyId, Secret, Shown};

/// The version of what is kept.
pub const FORMAT_VERSION: u64 = 1;

/// Why a key is not admitted. Callers are not told which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// There is no such key.
    Unknown,
    /// There is one of this id, with another secret.
    Wrong,
    /// It is right, and over.
    Over(Standing),
}

/// All keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    keys: BTreeMap<KeyId, Key>,
}

impl Ring {
    /// Whether no key was ever made.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys by id.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys.values()
    }

    /// The key of an id.
    #[must_use]
    pub fn get(&self, id: KeyId) -> Option<&Key> {
        self.keys.get(&id)
    }

    /// The namespaces whose operations may be those of a caller with other rights: that of the password, and those of keys
    /// with different scopes. Keys that are over count, because what they sent is still remembered.
    #[must_use]
    pub fn shared_namespaces(&self) -> BTreeSet<&str> {
        let mut shared = BTreeSet::from([""]);
        let mut scopes: BTreeMap<&str, &[Scope]> = BTreeMap::new();
        for key in self.keys.values() {
            if *scopes.entry(&key.namespace).or_insert(&key.scopes) != key.scopes.as_slice() {
                shared.insert(&key.namespace);
            }
        }
        shared
    }

    /// Puts a key in, in place of the one of its id.
    pub fn put(&mut self, key: Key) {
        self.keys.insert(key.id, key);
    }

    /// The key that a caller shows, if it can be used.
    ///
    /// # Errors
    /// Why not.
    pub fn admit(&self, shown: &Shown, now: TimeMs) -> Result<&Key, Denial> {
        let key = self.keys.get(&shown.id);
        let is_right = key.map_or(Secret::NONE, |key| key.secret).is(&shown.secret());
        match key {
            None => Err(Denial::Unknown),
            Some(_) if !is_right => Err(Denial::Wrong),
            Some(key) => match key.standing(now) {
                Standing::Active => Ok(key),
                over => Err(Denial::Over(over)),
            },
        }
    }

    /// Makes a key of what is drawn for it. One that has the name of another must say which namespace it has: that of the
    /// other is what keeps a retry from being done again.
    ///
    /// # Errors
    /// When it cannot be as asked.
    pub fn create(&mut self, asked: &Asked, shown: &Shown, now: TimeMs) -> Result<Key, KeyError> {
        let named = self.named(&asked.name).max_by_key(|key| key.created_ms);
        if let (Some(key), None) = (named, &asked.namespace) {
            return Err(KeyError::Taken(key.id, key.namespace.clone()));
        }
        if self.keys.contains_key(&shown.id) {
            return Err(KeyError::Random(std::io::ErrorKind::AlreadyExists.into()));
        }
        let key = Key::create(asked.clone(), shown, now)?;
        self.put(key.clone());
        Ok(key)
    }

    /// Makes a key in place of another one, with its name, its scopes and its namespace; both can be used for the overlap.
    /// One that is over stays so. A key that expires gets a successor for as long as it was made for.
    ///
    /// # Errors
    /// When there is no such key, or it has a successor.
    pub fn rotate(
        &mut self,
        name: &str,
        shown: &Shown,
        overlap_ms: u64,
        now: TimeMs,
    ) -> Result<Key, KeyError> {
        let mut old = self.find(name, now)?.clone();
        if let Some(successor) = old.replaced_by {
            return Err(KeyError::Replaced(old.id, successor));
        }
        let asked = Asked {
            name: old.name.clone(),
            scopes: old.scopes.clone(),
            namespace: Some(old.namespace.clone()),
            ttl_ms: old.expires_ms.map(|expires| expires.saturating_sub(old.created_ms)),
        };
        let key = self.create(&asked, shown, now)?;
        if old.standing(now) == Standing::Active {
            let end = now.saturating_add(overlap_ms);
            old.expires_ms = Some(old.expires_ms.map_or(end, |expires| expires.min(end)));
        }
        old.replaced_by = Some(key.id);
        self.put(old);
        Ok(key)
    }

    /// Revokes the key of an id, or the one of a name that can be used; with `all`, every one of that name. Gives their ids, and
    /// whether each was not revoked yet.
    ///
    /// # Errors
    /// When there is no such key, or several where one is meant.
    pub fn revoke(&mut self, name: &str, all: bool, now: TimeMs) -> Result<Vec<(KeyId, bool)>, KeyError> {
        let ids: Vec<KeyId> = match self.by_id(name) {
            Some(key) => vec![key.id],
            None if all => self.named(name).map(|key| key.id).collect(),
            None => vec![self.only(name, now)?.id],
        };
        if ids.is_empty() {
            return Err(KeyError::Unknown(name.to_owned()));
        }
        let mut revoked = Vec::new();
        for id in ids {
            let Some(key) = self.keys.get_mut(&id) else { continue };
            revoked.push((id, key.revoked_ms.is_none()));
            key.revoked_ms.get_or_insert(now);
        }
        Ok(revoked)
    }

    /// The key of a name, unless several of them can be used.
    fn only(&self, name: &str, now: TimeMs) -> Result<&Key, KeyError> {
        let active: Vec<&Key> =
            self.named(name).filter(|key| key.standing(now) == Standing::Active).collect();
        let ids = || active.iter().map(|key| key.id.to_string()).collect::<Vec<_>>().join(", ");
        match active.as_slice() {
            [] => self.find(name, now),
            [key] => Ok(key),
            _ => Err(KeyError::Several(name.to_owned(), ids())),
        }
    }

    fn by_id(&self, text: &str) -> Option<&Key> {
        KeyId::parse(text).and_then(|id| self.keys.get(&id))
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &Key> {
        self.keys.values().filter(move |key| key.name == name)
    }

    /// The key of an id or a name. Of several with a name, the one that can be used and that none has replaced; if all are
    /// over, the one that none has replaced.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find(&self, name: &str, now: TimeMs) -> Result<&Key, KeyError> {
        if let Some(key) = self.by_id(name) {
            return Ok(key);
        }
        let last: Vec<&Key> = self.named(name).filter(|key| key.replaced_by.is_none()).collect();
        let active: Vec<&Key> =
            last.iter().copied().filter(|key| key.standing(now) == Standing::Active).collect();
        match (active.as_slice(), last.as_slice()) {
            ([key], _) | ([], [key]) => Ok(key),
            ([], []) => self.named(name).next().ok_or_else(|| KeyError::Unknown(name.to_owned())),
            _ => Err(KeyError::Ambiguous(name.to_owned())),
        }
    }

    /// The text in which they are kept.
    #[must_use]
    pub fn to_text(&self) -> String {
        let keys: Vec<Value> = self.keys.values().map(Key::to_json).collect();
        format!("{:#}\n", json!({ "format": FORMAT_VERSION, "keys": keys }))
    }

    /// Reads the text.
    ///
    /// # Errors
    /// When it is damaged, or of a newer release.
    pub fn from_text(text: &str) -> Result<Self, KeyError> {
        let value: Value = serde_json::from_str(text).map_err(|error| damaged(&error.to_string()))?;
        match value.get("format").and_then(Value::as_u64) {
            Some(FORMAT_VERSION) => {}
            Some(newer) => {
                return Err(damaged(&format!("format {newer}; this release reads {FORMAT_VERSION}")));
            }
            None => return Err(damaged("no format is given")),
        }
        let keys = value.get("keys").and_then(Value::as_array).ok_or_else(|| damaged("no keys are given"))?;
        let mut ring = Self::default();
        for key in keys {
            ring.put(Key::from_json(key)?);
        }
        if ring.keys.len() == keys.len() { Ok(ring) } else { Err(damaged("an id is there twice")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(ttl_ms: Option<u64>) -> Asked {
        let scopes = vec![Scope::parse("take:stock:sku-*").expect("a scope")];
        Asked { name: "shop".to_owned(), scopes, namespace: None, ttl_ms }
    }

    fn create(ring: &mut Ring, asked: &Asked, now: TimeMs) -> Result<(Key, Shown), KeyError> {
        let shown = Shown::draw()?;
        ring.create(asked, &shown, now).map(|key| (key, shown))
    }

    fn rotate(ring: &mut Ring, name: &str, overlap: u64, now: TimeMs) -> Result<(Key, Shown), KeyError> {
        let shown = Shown::draw()?;
        ring.rotate(name, &shown, overlap, now).map(|key| (key, shown))
    }

    fn make(asked: &Asked, now: TimeMs) -> Result<(Key, Shown), KeyError> {
        create(&mut Ring::default(), asked, now)
    }

    #[test]
    fn a_key_is_admitted_by_its_secret_until_it_is_over() {
        let mut ring = Ring::default();
        let (key, shown) = create(&mut ring, &asked(Some(100)), 1_000).expect("a key");
        assert_eq!(ring.admit(&shown, 1_099).map(|its| its.id), Ok(key.id));
        assert_eq!(ring.admit(&shown, 1_100), Err(Denial::Over(Standing::Expired)));
        let mut text = shown.reveal();
        let last = if text.pop() == Some('0') { '1' } else { '0' };
        text.push(last);
        let other = Shown::parse(text.as_bytes()).expect("a key");
        assert_eq!(ring.admit(&other, 1_000), Err(Denial::Wrong));
        assert_eq!(ring.admit(&Shown::draw().expect("random"), 1_000), Err(Denial::Unknown));
        assert_eq!(ring.revoke("shop", false, 1_050).expect("a key"), [(key.id, true)]);
        assert_eq!(ring.revoke(&key.id.to_string(), false, 1_060).expect("a key"), [(key.id, false)]);
        assert_eq!(ring.admit(&shown, 1_000), Err(Denial::Over(Standing::Revoked)));
        assert!(!ring.is_empty());
    }

    #[test]
    fn both_keys_of_a_rotation_can_be_used_for_the_overlap_and_share_the_namespace() {
        let mut ring = Ring::default();
        let (old, first) = create(&mut ring, &asked(Some(1_000)), 0).expect("a key");
        let (new, second) = rotate(&mut ring, "shop", 50, 500).expect("a key");
        assert_eq!((&new.namespace, &new.scopes), (&old.namespace, &old.scopes));
        assert!(ring.admit(&first, 549).is_ok() && ring.admit(&second, 549).is_ok());
        assert_eq!(ring.admit(&first, 550), Err(Denial::Over(Standing::Expired)));
        assert!(ring.admit(&second, 1_499).is_ok() && ring.admit(&second, 1_500).is_err());
        assert!(rotate(&mut ring, &old.id.to_string(), 50, 510).is_err(), "it was replaced");
        assert_eq!(ring.find("shop", 510).expect("a key").id, new.id);
        let (third, _) = rotate(&mut ring, "shop", 0, 600).expect("a key");
        assert_eq!(ring.admit(&second, 600), Err(Denial::Over(Standing::Expired)));
        create(&mut ring, &Asked { namespace: Some("b".to_owned()), ..asked(None) }, 600).expect("a key");
        assert!(matches!(ring.find("shop", 600), Err(KeyError::Ambiguous(_))));
        assert_eq!(ring.find(&format!("sk_{}", third.id), 600).expect("a key").id, third.id);
    }

    #[test]
    fn the_successor_of_a_key_that_is_over_answers_for_what_it_did() {
        for is_revoked in [false, true] {
            let mut ring = Ring::default();
            let (old, shown) = create(&mut ring, &asked(Some(100)), 0).expect("a key");
            if is_revoked {
                ring.revoke("shop", false, 50).expect("a key");
            }
            let Err(KeyError::Taken(id, namespace)) = create(&mut ring, &asked(None), 200) else {
                panic!("a key of its name, with other operation ids");
            };
            assert_eq!((id, &namespace), (old.id, &old.namespace));
            let (new, _) = rotate(&mut ring, "shop", 1_000, 200).expect("a key");
            assert_eq!((&new.namespace, new.expires_ms), (&old.namespace, Some(300)));
            assert!(ring.admit(&shown, 200).is_err(), "it stays over");
            assert!(matches!(rotate(&mut ring, &old.id.to_string(), 0, 200), Err(KeyError::Replaced(_, _))));
            assert_eq!(ring.find("shop", 200).expect("a key").id, new.id);
        }
    }

    #[test]
    fn a_name_of_several_keys_revokes_none_of_them_unless_all_are_meant() {
        let mut ring = Ring::default();
        let (old, _) = create(&mut ring, &asked(None), 0).expect("a key");
        let (new, _) = rotate(&mut ring, "shop", 100, 10).expect("a key");
        let Err(KeyError::Several(_, ids)) = ring.revoke("shop", false, 20) else { panic!("which one?") };
        assert!(ids.contains(&old.id.to_string()) && ids.contains(&new.id.to_string()));
        assert!(ring.keys().all(|key| key.revoked_ms.is_none()));
        let mut later = ring.clone();
        assert_eq!(later.revoke("shop", false, 200).expect("a key"), [(new.id, true)], "the other is over");
        let mut revoked = ring.revoke("shop", true, 20).expect("keys");
        revoked.sort_unstable();
        let mut both = [(old.id, true), (new.id, true)];
        both.sort_unstable();
        assert_eq!(revoked, both);
        assert_eq!(ring.revoke("shop", false, 30).expect("a key"), [(new.id, false)]);
        assert!(matches!(ring.revoke("nobody", true, 30), Err(KeyError::Unknown(_))));
    }

    #[test]
    fn what_is_kept_is_read_back_and_has_no_secret() {
        let mut ring = Ring::default();
        let (_, shown) = create(&mut ring, &asked(None), 5).expect("a key");
        rotate(&mut ring, "shop", 7, 6).expect("a key");
        let text = ring.to_text();
        assert!(!text.contains(&shown.reveal()[16..]));
        assert_eq!(Ring::from_text(&text).expect("keys"), ring);
        for (from, to) in [
            ("\"format\": 1", "\"format\": 2"),
            ("\"namespace\"", "\"nomespace\""),
            ("take:stock:sku-*", "steal:stock:sku-*"),
            ("\"revoked_ms\": null", "\"revoked_ms\": \"\""),
            ("\"secret_sha256\": \"", "\"secret_sha256\": \"0"),
            ("\"scopes\": [", "\"only_from\": \"10.0.0.1\", \"scopes\": ["),
        ] {
            let other = text.replacen(from, to, 1);
            assert!(other != text && Ring::from_text(&other).is_err(), "{to}");
        }
        assert!(Ring::from_text(&text[..text.len() / 2]).is_err());
    }

    #[test]
    fn names_and_namespaces_are_plain() {
        for name in ["", "a b", "a/b", "key:x", "ä", &"x".repeat(49)] {
            assert!(make(&Asked { name: name.to_owned(), ..asked(None) }, 0).is_err(), "{name}");
            let namespace = Some(name.to_owned()).filter(|name| !name.is_empty());
            let is_refused = make(&Asked { namespace: namespace.clone(), ..asked(None) }, 0).is_err();
            assert_eq!(is_refused, namespace.is_some(), "{name}");
        }
        let (own, _) = create(&mut Ring::default(), &asked(None), 0).expect("a key");
        assert_eq!(own.engine_namespace(), format!("key:{}", own.id));
        let (shared, _) = make(&Asked { namespace: Some(String::new()), ..asked(None) }, 0).expect("a key");
        assert_eq!(shared.engine_namespace(), "");
        assert!(make(&Asked { scopes: Vec::new(), ..asked(None) }, 0).is_err());
        for name in ["0123456789ab", "0123456789AB", "sk_0123456789ab", "sk_shop"] {
            assert!(
                matches!(make(&Asked { name: name.to_owned(), ..asked(None) }, 0), Err(KeyError::NameOfId)),
                "{name}"
            );
        }
    }
}
