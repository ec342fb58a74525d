// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGoName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"ECC_INJECT": "ECCInject", "GROUP_IN_MASK": "GroupInMask", "EP_LOCAL_QPN": "EPLocalQPN", "log2_n": "Log2N", "IP_ID": "IPID", "DROP_ICRC": "DropICRC"} {
		assert.Equal(t, want, goName(in))
	}
}
