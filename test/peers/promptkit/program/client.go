package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"

	"github.com/AltairaLabs/PromptKit/runtime/a2a"
	"github.com/AltairaLabs/PromptKit/runtime/tools"
)

// command is one line of standard input. Each is answered by lines with its id: events of a stream, then a result or an error.
type command struct {
	ID            int                           `json:"id"`
	Op            string                        `json:"op"`
	Message       a2a.Message                   `json:"message"`
	Configuration *a2a.SendMessageConfiguration `json:"configuration"`
	Task          string                        `json:"task"`
	Context       string                        `json:"context"`
	Tool          string                        `json:"tool"`
	Args          json.RawMessage               `json:"args"`
}

type driver struct {
	client   *a2a.Client
	executor *a2a.Executor
	mutex    sync.Mutex
	out      *json.Encoder
	tools    map[string]*tools.ToolDescriptor
}

func drive(url string) {
	made := &driver{
		client:   a2a.NewClient(url),
		executor: a2a.NewExecutor(a2a.WithNoRetry()),
		out:      json.NewEncoder(os.Stdout),
		tools:    map[string]*tools.ToolDescriptor{},
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var given command
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			panic(err)
		}
		go made.answer(given)
	}
}

func (d *driver) write(line map[string]any) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.out.Encode(line)
}

func (d *driver) answer(given command) {
	result, err := d.run(given)
	if err == nil {
		d.write(map[string]any{"id": given.ID, "result": result})
		return
	}
	var rpc *a2a.RPCError
	code := 0
	if errors.As(err, &rpc) {
		code = rpc.Code
	}
	d.write(map[string]any{"id": given.ID, "error": map[string]any{"message": err.Error(), "code": code}})
}

func (d *driver) run(given command) (any, error) {
	ctx := context.Background()
	given.Message.Role = a2a.RoleUser
	request := &a2a.SendMessageRequest{Message: given.Message, Configuration: given.Configuration}
	switch given.Op {
	case "send":
		return d.client.SendMessage(ctx, request)
	case "stream":
		events, err := d.client.SendMessageStream(ctx, request)
		if err != nil {
			return nil, err
		}
		for event := range events {
			if event.StatusUpdate != nil {
				d.write(map[string]any{"id": given.ID, "event": event.StatusUpdate})
			} else if event.ArtifactUpdate != nil {
				d.write(map[string]any{"id": given.ID, "event": event.ArtifactUpdate})
			}
		}
		return nil, nil
	case "get":
		return d.client.GetTask(ctx, given.Task)
	case "cancel":
		return nil, d.client.CancelTask(ctx, given.Task)
	case "list":
		return d.client.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: given.Context})
	case "tools":
		return d.register(ctx)
	default:
		return d.executor.Execute(ctx, d.tools[given.Tool], given.Args)
	}
}

// register makes tools of the agent's skills, as PromptKit's bridge does, and names their inputs.
func (d *driver) register(ctx context.Context) (any, error) {
	found, err := a2a.NewToolBridge(d.client).RegisterAgent(ctx)
	if err != nil {
		return nil, err
	}
	named := []map[string]any{}
	for _, tool := range found {
		d.tools[tool.Name] = tool
		named = append(named, map[string]any{"name": tool.Name, "schema": tool.InputSchema})
	}
	return named, nil
}
