//! Windows inside Redis are those of core, for every kind, offset and time, where doubles are exact and where
//! they nearly are not.

#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use scarce_core::command::shapes::{CalendarUnit, Window};
use scarce_core::types::{INTEGER_MAX, Positive};
use scarce_core::windows::window_at;
use scarce_engine_redis::library::{ClockSource, Library};
use scarce_sim::random::Random;

/// Asks for the windows of one kind at the times in the arguments: index and end, or -1 for none.
const QUESTION: &str = "
local kind, found = tonumber(ARGV[1]) or ARGV[1], {}
for at = 3, #ARGV do
  local index, ends_at = windows.window_at(kind, tonumber(ARGV[2]), tonumber(ARGV[at]))
  found[#found + 1] = encoding.number(index) .. ' ' .. encoding.number(ends_at or -1)
end
return found";

fn times(random: &mut Random) -> Vec<u64> {
    let mut times = vec![0, 1, 59_999, 60_000, INTEGER_MAX, INTEGER_MAX - 1, INTEGER_MAX - 64_800_000];
    for _ in 0..150 {
        times.push(random.below(INTEGER_MAX + 1));
        times.push(INTEGER_MAX - random.below(3_000_000_000));
        times.push(random.below(3_000_000_000));
        // This century, at the edges of hours, days and months.
        let hour = 1_600_000_000_000 / 3_600_000 + random.below(900_000);
        times.extend([hour * 3_600_000, hour * 3_600_000 - 1]);
    }
    times
}

fn expected(window: Window, at: u64) -> String {
    let (index, ends_at) = window_at(window, at);
    format!("{index} {}", ends_at.map_or(-1, |ends_at| i64::try_from(ends_at).expect("an integer")))
}

#[test]
fn windows_are_those_of_core() {
    let server = servers::server();
    let mut connection = servers::connection(&server);
    let library = Library::new(ClockSource::Call).script();
    let (body, _) = library.split_once("return main\nend\n").expect("the library, and what calls it");
    let script = format!("{}{QUESTION}", body.replacen("local function build()\n", "", 1));
    let mut random = Random::new(1);
    let mut windows = vec![Window::None];
    for unit in CalendarUnit::ALL {
        windows.extend([-1_080, -210, -1, 0, 60, 345, 1_080].map(|offset| Window::Calendar(*unit, offset)));
    }
    for duration_ms in [1, 7, 1_000, 86_400_000, (1 << 40) + 1, INTEGER_MAX - 1, INTEGER_MAX] {
        windows.push(Window::Fixed(Positive::new(duration_ms).expect("a duration")));
    }
    for window in windows {
        let (kind, offset) = match window {
            Window::None => ("NONE".to_owned(), 0),
            Window::Calendar(unit, offset_minutes) => (unit.word().to_owned(), offset_minutes),
            Window::Fixed(duration_ms) => (duration_ms.to_string(), 0),
        };
        let times = times(&mut random);
        let mut eval = redis::cmd("EVAL");
        eval.arg(&script).arg(0).arg(&kind).arg(offset).arg(&times);
        let found: Vec<String> = eval.query(&mut connection).expect("windows");
        assert_eq!(found.len(), times.len());
        for (at, found) in times.iter().zip(&found) {
            assert_eq!(*found, expected(window, *at), "{kind} at offset {offset}, {at}");
        }
    }
}
