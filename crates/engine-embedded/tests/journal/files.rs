//! On the real disk: the lock, the deployment file, truncation, readers beside the writer.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scarce_engine_embedded::deployment::{Deployment, DeploymentError};
use scarce_engine_embedded::journal::{JournalError, RecoveryStart};
use scarce_engine_embedded::lock::{DirectoryLock, LockError};
use scarce_engine_embedded::storage::faulty::Fault;
use scarce_engine_embedded::storage::{FaultyDisk, FileStorage, Storage};

use super::support::{Written, append_next, open_from};

fn storage(directory: &tempfile::TempDir) -> Arc<FileStorage> {
    Arc::new(FileStorage::open(directory.path().join("data/0")).expect("opens"))
}

#[test]
fn a_journal_on_the_real_disk() {
    let directory = tempfile::tempdir().unwrap();
    let storage = storage(&directory);
    let mut writer = open_from(storage.clone(), RecoveryStart::beginning()).unwrap().recovered.writer;
    let mut truth = Vec::new();
    for _ in 0..60 {
        append_next(&mut writer, &mut truth, 0).unwrap();
        writer.sync().unwrap();
    }
    let name = storage.list().unwrap()[1].clone();
    let mode = std::fs::metadata(storage.path().join(&name)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(storage.available_bytes().unwrap() > 0);
    assert_eq!(open_from(storage.clone(), RecoveryStart::beginning()).unwrap().frames, truth);
    let file = std::fs::OpenOptions::new().write(true).open(storage.path().join(&name)).unwrap();
    file.set_len(6000).unwrap();
    let refused = open_from(storage, RecoveryStart::beginning()).err();
    assert!(matches!(refused, Some(JournalError::Corrupt { offset: 6000, .. })), "{refused:?}");
}

#[test]
fn a_reader_follows_the_writer() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = open_from(storage(&directory), RecoveryStart::beginning()).unwrap().recovered.writer;
    let journal = writer.journal().clone();
    let durable = Arc::new(AtomicU64::new(0));
    let seen = Arc::new(AtomicU64::new(0));
    let frames_total = 400;
    let follower = {
        let (durable, seen) = (Arc::clone(&durable), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut reader = journal.reader();
            let mut frames = Vec::new();
            let mut next = 1;
            while frames.len() < frames_total {
                for frame in reader.read_from(next, durable.load(Ordering::Acquire), 5000).unwrap() {
                    assert_eq!(frame.first_sequence, next);
                    next = frame.last_sequence + 1;
                    frames.push(Written {
                        first: frame.first_sequence,
                        last: frame.last_sequence,
                        payload: frame.payload,
                    });
                }
                seen.store(next, Ordering::Release);
                std::thread::yield_now();
            }
            frames
        })
    };
    let mut truth = Vec::new();
    for at in 0..frames_total {
        append_next(&mut writer, &mut truth, 0).unwrap();
        if at % 7 == 0 || at + 1 == frames_total {
            durable.store(writer.sync().unwrap(), Ordering::Release);
            writer.journal().retire(seen.load(Ordering::Acquire)).unwrap();
        }
    }
    assert_eq!(follower.join().unwrap(), truth);
}

#[test]
fn one_process_per_directory() {
    let directory = tempfile::tempdir().unwrap();
    let lock = DirectoryLock::acquire(directory.path()).unwrap();
    match DirectoryLock::acquire(directory.path()).unwrap_err() {
        LockError::Held { pid, .. } => assert_eq!(pid, Some(std::process::id())),
        other => panic!("{other}"),
    }
    let refused = DirectoryLock::acquire(directory.path()).unwrap_err().to_string();
    assert!(refused.contains(&std::process::id().to_string()), "{refused}");
    drop(lock);
    DirectoryLock::acquire(directory.path()).unwrap();
    let nowhere = DirectoryLock::acquire(directory.path().join("absent"));
    assert!(matches!(nowhere, Err(LockError::Unusable { .. })));
}

#[test]
fn a_deployment_is_created_once() {
    let directory = tempfile::tempdir().unwrap();
    let storage = storage(&directory);
    assert!(Deployment::load(&*storage).unwrap().is_none());
    let created = Deployment::load_or_create(&*storage, 4).unwrap();
    assert_eq!(Deployment::load_or_create(&*storage, 4).unwrap(), created);
    assert_ne!(created.secret, [0; 32]);
    let path = storage.path().join("deployment.toml");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = Deployment::load_or_create(&*storage, 5).unwrap_err();
    assert!(matches!(refused, DeploymentError::Partitions { found: 4, wanted: 5, .. }));
    assert!(!format!("{created:?}").contains(&format!("{:02x}{:02x}", created.secret[0], created.secret[1])));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("format_version = 1", "format_version = 2")).unwrap();
    assert!(matches!(Deployment::load(&*storage), Err(DeploymentError::Newer { found: 2, .. })));
    for (from, to) in
        [("partitions = 4", "partitions = 8"), ("secret", "secrets"), ("\nchecksum", "\n\nchecksum")]
    {
        std::fs::write(&path, text.replace(from, to)).unwrap();
        assert!(matches!(Deployment::load(&*storage), Err(DeploymentError::Damaged { .. })), "{to}");
    }
}

#[test]
fn a_deployment_survives_the_power_at_every_call() {
    for call in 0.. {
        let disk = FaultyDisk::new();
        disk.inject(call, Fault::PowerCut);
        let created = Deployment::load_or_create(&disk, 2).ok();
        if disk.fired_count() == 0 {
            assert!(call > 5);
            return;
        }
        assert_eq!(created, None, "call {call}");
        for seed in 0..8 {
            let copy = disk.fork();
            copy.crash(seed);
            let first = Deployment::load_or_create(&copy, 2).unwrap();
            copy.crash(seed + 1);
            assert_eq!(Deployment::load(&copy).unwrap(), Some(first), "call {call}, seed {seed}");
        }
    }
}
