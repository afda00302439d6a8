#!/usr/bin/env bash
# Stands before the compiler for the crates of the workspace, and lints each instead of compiling it.
# `cargo clippy` would check all dependencies once more, which takes as long; these were compiled for the tests already.
set -euo pipefail
arguments=()
for argument in "$@"; do
    case $argument in
    # A library is not linked, and what is linked needs no more than a check.
    --emit=*metadata*) argument=${argument/,link/} ;;
    --emit=*) argument=${argument/link/metadata} ;;
    # What was linted only is known by its metadata.
    *=*.rlib) [ -e "${argument#*=}" ] || argument=${argument%.rlib}.rmeta ;;
    esac
    arguments+=("$argument")
done
exec clippy-driver "${arguments[@]}"
