#!/bin/sh
# Installs a package into a copy of this system, runs the server there as the unit would, and installs it again over
# itself. Nothing of it reaches this system: what is written goes to memory. It must run in namespaces of its own:
#
#   unshare --mount --pid --net --fork --mount-proc --kill-child sh packaging/debian/check.sh scarce_0.1.0_amd64.deb
#
# It prints 'ok: …' or 'NOT OK: …' for each check, and fails with the first that does not hold.
set -eu

deb=$(realpath "$1")
own=/mnt
mount -t tmpfs tmpfs "$own"
mkdir "$own/upper" "$own/work" "$own/system"
mount -t overlay overlay -o "lowerdir=/,upperdir=$own/upper,workdir=$own/work" "$own/system"
system=$own/system
for folder in proc dev; do
    mount --rbind "/$folder" "$system/$folder"
done
mount -t tmpfs tmpfs "$system/run"
# No compiler is there, and nothing that was installed before.
mkdir "$own/nothing"
for folder in root home usr/local; do
    mount --bind "$own/nothing" "$system/$folder"
done
cp "$deb" "$system/scarce.deb"
ip link set lo up

check() {
    what=$1
    shift
    if "$@" >"$own/output" 2>&1; then
        echo "ok: $what"
    else
        echo "NOT OK: $what: $*"
        cat "$own/output"
        exit 1
    fi
}
become() { exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot "$system" "$@"; }
become_user() { become setpriv --reuid=scarce --regid=scarce --init-groups --no-new-privs --inh-caps=-all "$@"; }
inside() { (become "$@"); }
as_user() { (become_user "$@"); }
contains() { grep -qF -- "$1" "$2"; }

inside dpkg --purge scarce >/dev/null 2>&1 || true
rm -rf "$system/var/lib/scarce" "$system/etc/scarce"
check "it installs, with all that it depends on" inside dpkg --install /scarce.deb
check "its user owns the data" test "$(inside stat -c %U:%a /var/lib/scarce)" = scarce:750
check "others cannot read its settings" test "$(inside stat -c %G:%a /etc/scarce/scarce.toml)" = scarce:640
check "its settings are right" as_user /usr/bin/scarce config check /etc/scarce/scarce.toml
check "a page of the manual is there" test -s "$system/usr/share/man/man1/scarce-serve.1.gz"
check "bash completes it" inside bash -c '. /usr/share/bash-completion/completions/scarce; complete -p scarce'
unit=$system/usr/lib/systemd/system/scarce.service
if inside sh -c 'command -v systemd-analyze' >/dev/null; then
    check "systemd understands the unit" inside systemd-analyze verify --man=no /usr/lib/systemd/system/scarce.service
    check "the unit is hardened" inside systemd-analyze security --offline=true --threshold=20 /usr/lib/systemd/system/scarce.service
fi

# As the unit says: its command, its user, its folder. The ready line goes through a pipe, so that nothing waits by the clock.
command=$(sed -n 's/^ExecStart=//p' "$unit")
folder=$(sed -n 's/^WorkingDirectory=//p' "$unit")
mkfifo "$own/said"
start() {
    # shellcheck disable=SC2086 # A unit's command is words.
    become_user sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" $command >"$own/said" 2>>"$own/log" &
    server=$!
    read -r ready <"$own/said" || { cat "$own/log"; exit 1; }
    case $ready in
        "scarce ready: resp 127.0.0.1:7379, http 127.0.0.1:7380"*) echo "ok: it serves: ${ready%, pid*}" ;;
        *) echo "NOT OK: it says '$ready'"; exit 1 ;;
    esac
}
stop() {
    kill -TERM "$server"
    check "it stops when asked to" wait "$server"
}
call() { inside /usr/bin/scarce call "$@"; }

start
check "an account is opened" call ACCOUNT.OPEN alice EUR
check "it is credited" call ACCOUNT.CREDIT alice 1000 ID credit-1
check "it is debited" call ACCOUNT.DEBIT alice 400 ID debit-1
stop

echo 'log_level = "warn"' >>"$system/etc/scarce/scarce.toml"
check "it installs over itself" inside dpkg --install /scarce.deb
check "changed settings stay" contains 'log_level = "warn"' "$system/etc/scarce/scarce.toml"
start
check "a debit that was sent before is not booked again" call ACCOUNT.DEBIT alice 400 ID debit-1
call --json ACCOUNT.GET alice >"$own/account"
check "the balance is that of one debit" contains '"balance",600,' "$own/account"
stop

check "it is removed" inside dpkg --remove scarce
check "the data stays" test -d "$system/var/lib/scarce"
check "it is purged" inside dpkg --purge scarce
check "the settings go" test ! -e "$system/etc/scarce/scarce.toml"
check "the data stays even then" test -d "$system/var/lib/scarce"
