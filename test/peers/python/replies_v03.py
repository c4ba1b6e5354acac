"""Reduces the pydantic models of a2a-sdk 0.2 and 0.3 to replies, and makes their messages."""
import base64
import uuid

from a2a.types import DataPart, FilePart, FileWithBytes, Message, Part, Role, Task, TaskArtifactUpdateEvent, TextPart


def part_reply(parts):
    texts, files, data = [], [], []
    for part in (each.root for each in parts):
        if part.kind == 'text':
            texts.append(part.text)
        elif part.kind == 'data':
            data.append(part.data)
        else:
            files.append({'name': part.file.name, 'mediaType': part.file.mime_type, 'base64': getattr(part.file, 'bytes', None)})
    return {'texts': texts, 'files': files, 'data': data}


def note_of(status):
    return ''.join(part.root.text for part in status.message.parts if part.root.kind == 'text') if status.message else None


def reply(event):
    if isinstance(event, Task):
        parts = [part for artifact in event.artifacts or [] for part in artifact.parts]
        return {'taskId': event.id, 'contextId': event.context_id, 'state': event.status.state.value, 'note': note_of(event.status), **part_reply(parts)}
    if isinstance(event, Message):
        return {'contextId': event.context_id, 'state': 'completed', **part_reply(event.parts)}
    ids = {'taskId': event.task_id, 'contextId': event.context_id}
    if isinstance(event, TaskArtifactUpdateEvent):
        return {**ids, **part_reply(event.artifact.parts)}
    return {**ids, 'state': event.status.state.value, 'note': note_of(event.status), 'texts': [], 'files': [], 'data': []}


def message_of(say):
    parts = [Part(root=TextPart(text=say['text']))]
    if say.get('file'):
        file = say['file']
        parts.append(Part(root=FilePart(file=FileWithBytes(bytes=file['base64'], mime_type=file['mediaType'], name=file['name']))))
    if say.get('data'):
        parts.append(Part(root=DataPart(data=say['data'])))
    return Message(
        role=Role.user, message_id=str(uuid.uuid4()), parts=parts, context_id=say.get('contextId'), task_id=say.get('taskId')
    )
