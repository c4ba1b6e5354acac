package main

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

type client struct {
	inner *a2aclient.Client
}

func newClient(url, binding string) (talker, error) {
	ctx := calls()
	card, err := agentcard.DefaultResolver.Resolve(ctx, url)
	if err != nil {
		return nil, err
	}
	config := a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{a2a.TransportProtocol(binding)}}
	inner, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithConfig(config), withGRPC(), withToken())
	return client{inner}, err
}

// withGRPC lets the client call gRPC without TLS, as the tests do.
func withGRPC() a2aclient.FactoryOption {
	return a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials()))
}

const session a2aclient.SessionID = "peer"

// calls is the context of every call. The SDK's store keeps credentials by session.
func calls() context.Context {
	return a2aclient.AttachSessionID(context.Background(), session)
}

// withToken lets the SDK send the token as the card's scheme says, if there is one.
func withToken() a2aclient.FactoryOption {
	store := a2aclient.NewInMemoryCredentialsStore()
	if token != "" {
		store.Set(session, "bearer", a2aclient.AuthCredential(token))
	}
	return a2aclient.WithCallInterceptors(&a2aclient.AuthInterceptor{Service: store})
}

func (c client) send(message say) (reply, error) {
	result, err := c.inner.SendMessage(calls(), request(message))
	if err != nil {
		return reply{}, err
	}
	return eventReply(result), nil
}

func (c client) stream(message say, each func(reply) bool) error {
	return eachOf(c.inner.SendStreamingMessage(calls(), request(message)), each)
}

func (c client) subscribe(id string, each func(reply) bool) error {
	return eachOf(c.inner.SubscribeToTask(calls(), &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(id)}), each)
}

func (c client) push(id, url string) error {
	_, err := c.inner.CreateTaskPushConfig(calls(), &a2a.PushConfig{TaskID: a2a.TaskID(id), URL: url})
	return err
}

func eachOf(events iter.Seq2[a2a.Event, error], each func(reply) bool) error {
	for event, err := range events {
		if err != nil {
			return err
		}
		if !each(eventReply(event)) {
			break
		}
	}
	return nil
}

func (c client) get(id string) (reply, error) {
	task, err := c.inner.GetTask(calls(), &a2a.GetTaskRequest{ID: a2a.TaskID(id)})
	if err != nil {
		return reply{}, err
	}
	return eventReply(task), nil
}

func (c client) cancel(id string) (reply, error) {
	task, err := c.inner.CancelTask(calls(), &a2a.CancelTaskRequest{ID: a2a.TaskID(id)})
	if err != nil {
		return reply{}, err
	}
	return eventReply(task), nil
}

func (c client) list(contextID string) ([]string, error) {
	page, err := c.inner.ListTasks(calls(), &a2a.ListTasksRequest{ContextID: contextID})
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, task := range page.Tasks {
		ids = append(ids, string(task.ID))
	}
	return ids, nil
}

func (c client) code(err error) int {
	if errors.Is(err, a2a.ErrTaskNotFound) {
		return -32001
	}
	return 0
}

func request(message say) *a2a.SendMessageRequest {
	parts := []*a2a.Part{a2a.NewTextPart(message.Text)}
	if message.File != nil {
		bytes, _ := base64.StdEncoding.DecodeString(message.File.Base64)
		part := a2a.NewRawPart(bytes)
		part.Filename, part.MediaType = message.File.Name, message.File.MediaType
		parts = append(parts, part)
	}
	if message.Data != nil {
		parts = append(parts, a2a.NewDataPart(message.Data))
	}
	made := a2a.NewMessage(a2a.MessageRoleUser, parts...)
	made.ContextID, made.TaskID = message.ContextID, a2a.TaskID(message.TaskID)
	return &a2a.SendMessageRequest{Message: made}
}

func eventReply(event any) reply {
	switch found := event.(type) {
	case *a2a.Task:
		parts := []*a2a.Part{}
		for _, artifact := range found.Artifacts {
			parts = append(parts, artifact.Parts...)
		}
		return withStatus(partReply(string(found.ID), found.ContextID, parts), found.Status)
	case *a2a.Message:
		made := partReply("", found.ContextID, found.Parts)
		made.State = "completed"
		return made
	case *a2a.TaskStatusUpdateEvent:
		return withStatus(partReply(string(found.TaskID), found.ContextID, nil), found.Status)
	case *a2a.TaskArtifactUpdateEvent:
		return partReply(string(found.TaskID), found.ContextID, found.Artifact.Parts)
	}
	panic("an event of no known kind")
}

func withStatus(made reply, status a2a.TaskStatus) reply {
	made.State = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(string(status.State), "TASK_STATE_")), "_", "-")
	if status.Message != nil {
		made.Note = strings.Join(partReply("", "", status.Message.Parts).Texts, "")
	}
	return made
}

func partReply(taskID, contextID string, parts []*a2a.Part) reply {
	made := reply{TaskID: taskID, ContextID: contextID, Texts: []string{}, Files: []file{}, Data: []any{}}
	for _, part := range parts {
		switch content := part.Content.(type) {
		case a2a.Text:
			made.Texts = append(made.Texts, string(content))
		case a2a.Raw:
			made.Files = append(made.Files, file{part.Filename, part.MediaType, base64.StdEncoding.EncodeToString(content)})
		case a2a.Data:
			made.Data = append(made.Data, content.Value)
		}
	}
	return made
}
