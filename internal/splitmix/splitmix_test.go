// SPDX-License-Identifier: Apache-2.0

package splitmix

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPublished: the numbers that the authors' generator gives for seed 1234567.
func TestPublished(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		assert.Equal(t, want, At(1234567, uint64(i)))
	}
}
