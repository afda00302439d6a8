// Package clients tests go-redis against a running server: SCARCE_RESP=host:port go test ./...
package clients

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

func connect(t *testing.T, protocol int) *redis.Client {
	t.Helper()
	address := os.Getenv("SCARCE_RESP")
	if address == "" {
		address = "127.0.0.1:7379"
	}
	client := redis.NewClient(&redis.Options{Addr: address, Protocol: protocol, MaxRetries: -1, PoolSize: 1})
	t.Cleanup(func() { client.Close() })
	return client
}

// name gives a name that no other test uses, nor an earlier run.
func name(t *testing.T, kind string) string {
	return fmt.Sprintf("go-%s-%s-%d", kind, strings.ReplaceAll(t.Name(), "/", "."), os.Getpid())
}

func call(t *testing.T, client *redis.Client, words ...any) any {
	t.Helper()
	answer, err := client.Do(ctx, words...).Result()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return answer
}

func list(values ...any) []any {
	for at, value := range values {
		if number, ok := value.(int); ok {
			values[at] = int64(number)
		}
	}
	return values
}

func expect(t *testing.T, found any, wanted any) {
	t.Helper()
	if !reflect.DeepEqual(found, wanted) {
		t.Fatalf("found %v, wanted %v", found, wanted)
	}
}

func TestConnects(t *testing.T) {
	client := connect(t, 2)
	expect(t, client.Ping(ctx).Val(), "PONG")
	expect(t, client.Echo(ctx, "hello").Val(), "hello")
}

func TestRefusalIsAnOrdinaryAnswer(t *testing.T) {
	client, sku := connect(t, 2), name(t, "sku")
	expect(t, call(t, client, "STOCK.CREATE", sku, 1), list(1, 1))
	expect(t, call(t, client, "STOCK.TAKE", sku, 1, "u1"), list(1, 1, 0))
	expect(t, call(t, client, "STOCK.TAKE", sku, 1, "u2"), list(0, "SOLD_OUT", 0, 1))
}

func TestErrorIsReturnedAndTheConnectionStaysUsable(t *testing.T) {
	client := connect(t, 2)
	id := client.ClientID(ctx).Val()
	err := client.Do(ctx, "STOCK.TAKE", "sku", "1.5", "u1").Err()
	if err == nil || !strings.Contains(err.Error(), "quantity must be") || !strings.Contains(err.Error(), "Usage: STOCK.TAKE sku quantity") {
		t.Fatalf("found %v", err)
	}
	expect(t, client.ClientID(ctx).Val(), id)
}

func TestSameIDGetsTheSameAnswer(t *testing.T) {
	client, account := connect(t, 2), name(t, "account")
	call(t, client, "ACCOUNT.OPEN", account, "USD")
	first := call(t, client, "ACCOUNT.CREDIT", account, 100, "ID", account)
	call(t, client, "ACCOUNT.CREDIT", account, 7)
	expect(t, first, list(1, 100, 100))
	expect(t, call(t, client, "ACCOUNT.CREDIT", account, 100, "ID", account), first)
}

func TestPipelineOf1000IsAnsweredInOrder(t *testing.T) {
	client, sku := connect(t, 2), name(t, "sku")
	call(t, client, "STOCK.CREATE", sku, 1000)
	answers, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for range make([]struct{}, 1000) {
			pipe.Do(ctx, "STOCK.TAKE", sku, 1, "u1")
		}
		return nil
	})
	expect(t, err, nil)
	expect(t, len(answers), 1000)
	for at, answer := range answers {
		expect(t, answer.(*redis.Cmd).Val(), list(1, at+1, 999-at))
	}
}

func transaction(t *testing.T, client *redis.Client, sku string, quantities ...int) []any {
	t.Helper()
	commands, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, quantity := range quantities {
			pipe.Do(ctx, "STOCK.TAKE", sku, quantity, "u1")
		}
		return nil
	})
	expect(t, err, nil)
	var answers []any
	for _, command := range commands {
		answers = append(answers, command.(*redis.Cmd).Val())
	}
	return answers
}

func TestTransactionIsAppliedOrRefusedWhole(t *testing.T) {
	client, sku := connect(t, 2), name(t, "sku")
	call(t, client, "STOCK.CREATE", sku, 10)
	expect(t, transaction(t, client, sku, 1, 2), list(list(1, 1, 9), list(1, 2, 7)))
	others := list(0, "BATCH_REFUSED", 1, "INSUFFICIENT_STOCK")
	expect(t, transaction(t, client, sku, 1, 50, 1), list(others, list(0, "INSUFFICIENT_STOCK", 6, 50), others))
	expect(t, call(t, client, "STOCK.TAKE", sku, 1, "u1"), list(1, 4, 6))
}

func TestReadsAreMapsInRESP3(t *testing.T) {
	client, sku := connect(t, 3), name(t, "sku")
	call(t, client, "STOCK.CREATE", sku, 3)
	item := call(t, client, "STOCK.GET", sku).(map[any]any)
	expect(t, list(item["sku"], item["available"], item["ends_at"]), list(sku, 3, nil))
}

func TestEventsAreReadAfterACursor(t *testing.T) {
	client, sku := connect(t, 3), name(t, "sku")
	call(t, client, "STOCK.CREATE", sku, 3, "ID", sku)
	cursor, found := int64(0), false
	for {
		events := call(t, client, "EVENTS", 0, 0, cursor, "COUNT", 500).([]any)
		if len(events) == 0 {
			break
		}
		for _, event := range events {
			event := event.([]any)
			cursor++
			expect(t, event[2], cursor)
			found = found || event[4] == sku && event[5] == "stock.created"
		}
	}
	expect(t, found, true)
}
