package main

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
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
	inner, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithConfig(config), withToken())
	return client{inner}, err
}

const session a2aclient.SessionID = "peer"

// calls is the context of every call. The SDK's store keeps credentials by session.
func calls() context.Context {
	return a2aclient.WithSessionID(context.Background(), session)
}

// withToken lets the SDK send the token as the card's scheme says, if there is one.
func withToken() a2aclient.FactoryOption {
	store := a2aclient.NewInMemoryCredentialsStore()
	if token != "" {
		store.Set(session, "bearer", a2aclient.AuthCredential(token))
	}
	return a2aclient.WithInterceptors(&a2aclient.AuthInterceptor{Service: store})
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
	return eachOf(c.inner.ResubscribeToTask(calls(), &a2a.TaskIDParams{ID: a2a.TaskID(id)}), each)
}

func (c client) push(id, url string) error {
	_, err := c.inner.SetTaskPushConfig(calls(), &a2a.TaskPushConfig{TaskID: a2a.TaskID(id), Config: a2a.PushConfig{URL: url}})
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
	task, err := c.inner.GetTask(calls(), &a2a.TaskQueryParams{ID: a2a.TaskID(id)})
	if err != nil {
		return reply{}, err
	}
	return eventReply(task), nil
}

func (c client) cancel(id string) (reply, error) {
	task, err := c.inner.CancelTask(calls(), &a2a.TaskIDParams{ID: a2a.TaskID(id)})
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

func request(message say) *a2a.MessageSendParams {
	parts := []a2a.Part{a2a.TextPart{Text: message.Text}}
	if found := message.File; found != nil {
		meta := a2a.FileMeta{Name: found.Name, MimeType: found.MediaType}
		parts = append(parts, a2a.FilePart{File: a2a.FileBytes{FileMeta: meta, Bytes: found.Base64}})
	}
	if message.Data != nil {
		parts = append(parts, a2a.DataPart{Data: message.Data})
	}
	made := a2a.NewMessage(a2a.MessageRoleUser, parts...)
	made.ContextID, made.TaskID = message.ContextID, a2a.TaskID(message.TaskID)
	return &a2a.MessageSendParams{Message: made}
}

func eventReply(event any) reply {
	switch found := event.(type) {
	case *a2a.Task:
		parts := []a2a.Part{}
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
	made.State = string(status.State)
	if status.Message != nil {
		made.Note = strings.Join(partReply("", "", status.Message.Parts).Texts, "")
	}
	return made
}

func partReply(taskID, contextID string, parts []a2a.Part) reply {
	made := reply{TaskID: taskID, ContextID: contextID, Texts: []string{}, Files: []file{}, Data: []any{}}
	for _, part := range parts {
		switch content := part.(type) {
		case a2a.TextPart:
			made.Texts = append(made.Texts, content.Text)
		case a2a.DataPart:
			made.Data = append(made.Data, content.Data)
		case a2a.FilePart:
			if bytes, isBytes := content.File.(a2a.FileBytes); isBytes {
				made.Files = append(made.Files, file{bytes.Name, bytes.MimeType, bytes.Bytes})
			}
		}
	}
	return made
}
