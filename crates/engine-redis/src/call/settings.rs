//! The settings that outcomes depend on, as a message has them.

use scarce_core::state::StateSettings;

use crate::values::MessageWriter;

/// Declares which settings the library is told, in the order of a message. A new one does not compile until it is
/// told, or said not to be; and a test finds one that the library is told and does not read.
macro_rules! settings {
    (told { $($told:ident),* } computed { $($computed:ident),* } untold { $($untold:ident),* }) => {
        /// The settings that the library is told, in the order of a message.
        pub const SETTING_NAMES: &[&str] = &[$(stringify!($told),)* $(stringify!($computed),)*];

        pub(super) fn write_settings(writer: &mut MessageWriter, settings: &StateSettings) {
            let StateSettings { $($told,)* $($untold: _,)* } = settings;
            writer.list(SETTING_NAMES.len());
            $(writer.quantity(number(*$told));)*
            $(writer.quantity(settings.$computed());)*
        }
    };
}

settings! {
    told {
        window_ms, window_ms_min, operations_max, retention_ms, receipt_retention_ms, step_max, packets_per_step_max, due_per_command_max,
        receipts_per_audit_max, batch_step_max, batch_packets_max
    }
    computed { id_lead_ms_max }
    // The time in an id is read before it is sent, and Redis keys its own hashes.
    untold { ulid_times, hash_seed }
}

fn number(setting: impl TryInto<u64>) -> u64 {
    setting.try_into().unwrap_or(u64::MAX)
}
