# Runs a single-threaded function in the background of the following commands. To be sourced.

declare -A aside=()
said=

# start_aside FUNCTION: starts it in the background. It must not change this shell's variables.
start_aside() {
    if [ -z "$said" ]; then
        said=$(mktemp -d)
        trap 'kill "${aside[@]}" 2>/dev/null || true; rm -rf "$said"' EXIT
    fi
    (
        SECONDS=0 status=0
        "$1" || status=$?
        echo $SECONDS >"$said/$1.seconds"
        exit $status
    ) >"$said/$1" 2>&1 &
    aside[$1]=$!
}

# end_aside FUNCTION: waits for it, prints its output, and sets SECONDS to its duration. Exits if it
# failed.
end_aside() {
    local status=0
    wait "${aside[$1]}" || status=$?
    cat "$said/$1"
    [ $status -eq 0 ] || exit $status
    SECONDS=$(<"$said/$1.seconds")
}
