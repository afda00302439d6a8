package scarce

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// view is what is known of a channel.
type view struct {
	channel  string
	sequence int64
	data     map[string]json.RawMessage
	trade    int64
}

// take takes a message: is it new, and is something before it missing?
func (v *view) take(its message) (isNew, isGap bool) {
	switch {
	case its.Type == "snapshot":
		v.sequence, v.data = its.Sequence, its.Data
		return true, false
	case its.Last <= v.sequence:
		return false, false
	case its.First > v.sequence+1:
		return false, true
	}
	v.sequence = its.Last
	if _, isOfOrders := its.Data["changes"]; isOfOrders {
		v.data = its.Data
		return true, false
	}
	after := map[string]json.RawMessage{}
	for name, value := range v.data {
		after[name] = value
	}
	for name, value := range its.Data {
		switch name {
		case "bids":
			value = merged(after[name], value, -1)
		case "asks":
			value = merged(after[name], value, 1)
		}
		after[name] = value
	}
	v.data = after
	return true, false
}

// merged gives all levels of a side after a change, best first.
func merged(before, change json.RawMessage, sign int) json.RawMessage {
	levels := map[int64]LevelRow{}
	for _, part := range []json.RawMessage{before, change} {
		// There may be none yet.
		rows, _ := decoded[[]LevelRow](part)
		for _, row := range rows {
			levels[row.Price] = row
			if row.Quantity == 0 {
				delete(levels, row.Price)
			}
		}
	}
	left := make([]LevelRow, 0, len(levels))
	for _, level := range levels {
		left = append(left, level)
	}
	slices.SortFunc(left, func(one, other LevelRow) int { return sign * cmp.Compare(one.Price, other.Price) })
	// Numbers can be written.
	shown, _ := json.Marshal(left)
	return shown
}

// shown is all that the channel shows now.
func (v *view) shown() (any, error) {
	if v.data == nil {
		return nil, nil
	}
	body, err := json.Marshal(v.data)
	if err != nil {
		return nil, err
	}
	kind, part, _ := strings.Cut(v.channel, ".")
	switch kind {
	case "account":
		return decoded[AccountGetResult](body)
	case "stock":
		return decoded[StockGetResult](body)
	case "packets":
		return decoded[PacketGetResult](body)
	case "coupon":
		return decoded[CouponGetResult](body)
	}
	if strings.Contains(part, ".orders.") {
		return decoded[OwnOrders](body)
	}
	switch part[strings.LastIndex(part, ".")+1:] {
	case "trades":
		return v.newTrades(body)
	case "ticker":
		return decoded[MarketTickerResult](body)
	}
	return decoded[MarketDepthResult](body)
}

// newTrades are those that were not seen yet, oldest first: they are numbered.
func (v *view) newTrades(body []byte) (MarketTradesResult, error) {
	all, err := decoded[MarketTradesResult](body)
	isOld := func(row OrderTradedRow) bool { return row.Trade <= v.trade }
	all.Trades = slices.DeleteFunc(all.Trades, isOld)
	slices.SortFunc(all.Trades, func(one, other OrderTradedRow) int { return cmp.Compare(one.Trade, other.Trade) })
	if len(all.Trades) > 0 {
		v.trade = all.Trades[len(all.Trades)-1].Trade
	}
	return all, err
}
