// SPDX-License-Identifier: Apache-2.0

package names

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type fruit uint8

const (
	apple fruit = iota
	pear
	quince fruit = 4
)

func fruits() List[fruit] {
	return Of[fruit]("fruit", []string{apple: "apple", pear: "pear", quince: "quince"}...)
}

func TestNames(t *testing.T) {
	require.Equal(t, []fruit{apple, pear, quince}, fruits().Values())
	for _, f := range fruits().Values() {
		var got fruit
		require.NoError(t, fruits().Unmarshal([]byte(fruits().Name(f)), &got))
		assert.Equal(t, f, got)
	}
	assert.Equal(t, "quince", fruits().Name(quince))
	for v, name := range map[fruit]string{2: "fruit 2", 3: "fruit 3", 5: "fruit 5", 255: "fruit 255"} {
		assert.Equal(t, name, fruits().Name(v))
	}
	assert.Equal(t, "number -1", Of[int]("number", "none").Name(-1))
	for _, text := range []string{"", "Apple", "fruit 2"} {
		_, err := fruits().Parse(text)
		assert.ErrorContains(t, err, "must be one of [apple pear quince]", text)
	}
}
