// SPDX-License-Identifier: Apache-2.0

package comm

import "incforge/network/topology"

// Tree is the shape of a World.
type Tree = topology.Tree
