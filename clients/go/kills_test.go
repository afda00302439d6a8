package scarce

// A ledger outside of the server, while it is killed and its connections are lost and delayed:
// SCARCE_UNSTEADY_URL=… go test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	workers  = 8
	rounds   = 80
	patience = 100 * time.Second
)

func unsteady(t *testing.T) (*Client, context.Context) {
	t.Helper()
	url := os.Getenv("SCARCE_UNSTEADY_URL")
	if url == "" {
		t.Skip("SCARCE_UNSTEADY_URL names no server")
	}
	c := New(url, Config{Timeout: 2 * time.Second, AttemptTimeout: 400 * time.Millisecond, PauseMax: 300 * time.Millisecond})
	t.Cleanup(c.Close)
	ctx, cancel := context.WithTimeout(bg, patience)
	t.Cleanup(cancel)
	return c, ctx
}

// isTrouble says whether nothing got through, which changes nothing.
func isTrouble(err error) bool {
	var failure *Error
	trouble := []Code{Unreachable, Lost, Unavailable, Overloaded, Unknown}
	return errors.As(err, &failure) && slices.Contains(trouble, failure.Code)
}

// through calls until it gets through, and asks as often as it takes.
func through[T any](ctx context.Context, t *testing.T, call func() (Outcome[T], error)) Outcome[T] {
	for ctx.Err() == nil {
		outcome, err := call()
		for err == nil && outcome.Undecided != nil && ctx.Err() == nil {
			outcome, err = outcome.Undecided.Resolve(bg)
		}
		if err == nil {
			return outcome
		}
		if !isTrouble(err) {
			t.Error(err)
			break
		}
	}
	t.Error("there was no answer in time")
	return Outcome[T]{}
}

// ledger is what the outside knows.
type ledger struct {
	sync.Mutex
	debited, taken, restocked, refused, replayed int64
}

func note[T any](l *ledger, outcome Outcome[T], column *int64, amount int64) {
	l.Lock()
	defer l.Unlock()
	if outcome.Applied != nil {
		*column += amount
		if outcome.Applied.Replayed {
			l.replayed++
		}
	}
	if outcome.Refused != nil {
		l.refused++
	}
}

func TestEachDebitAndEachUnitIsTakenOnceAndNoneIsLost(t *testing.T) {
	c, ctx := unsteady(t)
	account, sku, l := name("account"), name("sku"), &ledger{restocked: 5}
	const credited = 1_300
	through(ctx, t, func() (Outcome[AccountOpenResult], error) {
		return c.Account.Open(bg, AccountOpenArguments{Account: account, Asset: "EUR"})
	})
	through(ctx, t, func() (Outcome[AccountCreditResult], error) {
		return c.Account.Credit(bg, AccountCreditArguments{Account: account, Amount: credited})
	})
	through(ctx, t, func() (Outcome[StockCreateResult], error) {
		return c.Stock.Create(bg, StockCreateArguments{Sku: sku, Quantity: l.restocked})
	})
	var all sync.WaitGroup
	for worker := 0; worker < workers; worker++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for round := 0; round < rounds && ctx.Err() == nil; round++ {
				work(ctx, t, c, l, account, sku, worker, round)
			}
		}()
	}
	all.Wait()
	kept := through(ctx, t, func() (Outcome[AccountGetResult], error) {
		return c.Account.Get(bg, AccountGetArguments{Account: account})
	})
	shown := through(ctx, t, func() (Outcome[StockGetResult], error) {
		return c.Stock.Get(bg, StockGetArguments{Sku: sku})
	})
	t.Logf("ledger: debited %d, taken %d, restocked %d, refused %d, replayed %d", l.debited, l.taken, l.restocked, l.refused, l.replayed)
	equal(t, kept.Applied.Value.Balance, credited-l.debited)
	equal(t, []int64{shown.Applied.Value.Sold, shown.Applied.Value.Total}, []int64{l.taken, l.restocked})
	// Answers were lost, and some commands refused.
	equal(t, l.replayed > 0 && l.refused > 0, true)
}

func work(ctx context.Context, t *testing.T, c *Client, l *ledger, account, sku string, worker, round int) {
	amount := int64(1 + round%3)
	debit := AccountDebitArguments{Account: account, Amount: amount}
	note(l, through(ctx, t, func() (Outcome[AccountDebitResult], error) { return c.Account.Debit(bg, debit) }), &l.debited, amount)
	note(l, through(ctx, t, func() (Outcome[StockTakeResult], error) { return c.Stock.Take(bg, take(sku, 1)) }), &l.taken, 1)
	// The item is sold out again and again: a copy that arrives late must not find the next units.
	if round%workers == worker {
		more := StockRestockArguments{Sku: sku, Quantity: 3}
		note(l, through(ctx, t, func() (Outcome[StockRestockResult], error) { return c.Stock.Restock(bg, more) }), &l.restocked, 3)
	}
	if round%10 == 0 {
		line := Line{Arguments: AccountDebitArguments{Account: account, Amount: 1}}
		lines, err := c.Batch(bg, []Line{line, line})
		for _, its := range lines {
			if its.Err == nil {
				note(l, through(ctx, t, func() (Outcome[any], error) { return its.Outcome, err }), &l.debited, 1)
			}
		}
	}
}

// seen is what a follower has come to see.
type seen struct {
	book   MarketDepthResult
	money  int64
	trades []int64
}

func (s *seen) take(update Update) {
	switch data := update.Data.(type) {
	case MarketDepthResult:
		s.book = data
	case MarketTradesResult:
		for _, trade := range data.Trades {
			s.trades = append(s.trades, trade.Trade)
		}
	case AccountGetResult:
		s.money = data.Balance
	}
}

func TestWhatIsFollowedEndsAsWhatIsRead(t *testing.T) {
	c, ctx := unsteady(t)
	market, account := name("market"), name("account")
	through(ctx, t, func() (Outcome[MarketCreateResult], error) {
		return c.Market.Create(bg, MarketCreateArguments{Market: market})
	})
	through(ctx, t, func() (Outcome[AccountOpenResult], error) {
		return c.Account.Open(bg, AccountOpenArguments{Account: account, Asset: "EUR"})
	})
	live := c.Live("market."+market+".depth200", "market."+market+".trades", "account."+account)
	defer live.Close()
	var its seen
	// What is traded before a channel is followed is not in its snapshot.
	for followed := map[string]bool{}; len(followed) < 3; {
		update, err := live.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		followed[update.Channel] = true
		its.take(update)
	}
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		change(ctx, t, c, market, account)
	}()
	isOver := func() bool {
		select {
		case <-changed:
		default:
			return false
		}
		depth := through(ctx, t, func() (Outcome[MarketDepthResult], error) {
			return c.Market.Depth(bg, MarketDepthArguments{Market: market, Levels: Some(int64(200))})
		})
		last := through(ctx, t, func() (Outcome[MarketTradesResult], error) {
			return c.Market.Trades(bg, MarketTradesArguments{Market: market, Count: Some(int64(1))})
		})
		wanted := []any{depth.Applied.Value.Bids, depth.Applied.Value.Asks, int64(75), last.Applied.Value.Trades[0].Trade}
		return len(its.trades) > 0 && fmt.Sprint(its.book.Bids, its.book.Asks, its.money, its.trades[len(its.trades)-1]) == fmt.Sprint(wanted...)
	}
	for !isOver() {
		// The last change may have been seen before the writer has ended.
		wait, cancel := context.WithTimeout(ctx, time.Second)
		update, err := live.Next(wait)
		cancel()
		if ctx.Err() != nil {
			t.Fatalf("not seen in time: %+v", its)
		}
		if err == nil {
			its.take(update)
		}
	}
	for at, trade := range its.trades {
		equal(t, trade, int64(at+1))
	}
}

func change(ctx context.Context, t *testing.T, c *Client, market, account string) {
	for order := int64(0); order < 150; order++ {
		side := []string{"BUY", "SELL"}[order%2]
		place := OrderPlaceArguments{
			Market: market, Order: fmt.Sprint("o", order), Owner: fmt.Sprint("u", order), Side: side, Type: "LIMIT",
			Price: Some(100 + order*7%11 + order%2*2), Quantity: 1 + order%4,
		}
		through(ctx, t, func() (Outcome[OrderPlaceResult], error) { return c.Order.Place(bg, place) })
		if order%10 == 0 {
			through(ctx, t, func() (Outcome[AccountCreditResult], error) {
				return c.Account.Credit(bg, AccountCreditArguments{Account: account, Amount: 5})
			})
		}
	}
}
