// SPDX-License-Identifier: Apache-2.0

package sendmessage_test

import "incforge/hdl/sendmessage"

func several() sendmessage.SendMessage {
	return sendmessage.SendMessage{EPW: 3, EIW: 5, MaskW: 5, Groups: 3, ClockMHz: 3, Bytes: 8, LenW: 11, WordsW: 8, OffW: 13, UnitW: 8, UnitBytes: 256}
}

func single() sendmessage.SendMessage {
	return sendmessage.SendMessage{EPW: 2, EIW: 2, MaskW: 4, Groups: 1, ClockMHz: 1, Bytes: 16, LenW: 10, WordsW: 6, OffW: 12, UnitW: 6, UnitBytes: 512}
}
