// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain makes this test binary the program that runs on the machines of a cluster.
func TestMain(m *testing.M) {
	if os.Getenv(envFolder) != "" {
		err := Run(context.Background(), Place{}, squares(os.Args[1:]))
		if errors.Is(err, ErrServed) {
			os.Exit(0)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// square is a piece's result.
type square struct {
	Of, Is int
	Node   string
}

// squares is a task that the arguments describe: how many pieces, how long each takes, and what goes wrong.
func squares(args []string) Task[square] {
	pieces, millis := 0, 0
	faults := map[string]bool{}
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "pieces":
			pieces, _ = strconv.Atoi(value)
		case "ms":
			millis, _ = strconv.Atoi(value)
		default:
			faults[a] = true
		}
	}
	return Task[square]{Name: "squares", Pieces: pieces, Unit: "squares", Run: func(ctx context.Context, i int) (square, error) {
		select {
		case <-ctx.Done():
			return square{}, ctx.Err()
		case <-time.After(time.Duration(millis) * time.Millisecond):
		}
		switch {
		case faults[fmt.Sprintf("fail-%d", i)]:
			return square{}, fmt.Errorf("piece %d cannot be done", i)
		case faults[fmt.Sprintf("fail-once-%d", i)] && os.Getenv(envAttempt) == "1":
			fmt.Fprintln(os.Stderr, "out of memory, so to speak")
			os.Exit(137)
		}
		return square{Of: i, Is: i * i, Node: os.Getenv("SLURMD_NODENAME")}, nil
	}}
}
