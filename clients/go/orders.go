package scarce

// OwnOrders is what the channel of an owner's orders shows: the resting orders in a snapshot, then what happened to any of them.
type OwnOrders struct {
	Orders  []OrderGetRow `json:"orders"`
	Changes []OrderChange `json:"changes"`
}

// OrderChange is what happened to one of an owner's orders. Which of the pointers it has depends on Change.
type OrderChange struct {
	// Change is placed, traded, rested, reduced, replaced or cancelled.
	Change string `json:"change"`
	Order  string `json:"order"`
	// Remaining is what is open of the order after it; 0 when the order is over.
	Remaining     int64   `json:"remaining"`
	Sequence      int64   `json:"sequence"`
	At            int64   `json:"at"`
	Side          *string `json:"side"`
	Price         *int64  `json:"price"`
	Quantity      *int64  `json:"quantity"`
	Tif           *string `json:"tif"`
	Stp           *string `json:"stp"`
	Role          *string `json:"role"`
	Trade         *int64  `json:"trade"`
	By            *int64  `json:"by"`
	BySelfTrade   *bool   `json:"by_self_trade"`
	KeepsPriority *bool   `json:"keeps_priority"`
	Unfilled      *int64  `json:"unfilled"`
	Reason        *string `json:"reason"`
}
