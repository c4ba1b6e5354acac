import type { Reply, Say } from '../talk.ts';

/** A part of 0.2 and 0.3. */
interface KindPart {
  readonly kind: string;
  readonly text?: string;
  readonly data?: unknown;
  readonly file?: { readonly name?: string; readonly mimeType?: string; readonly bytes?: string };
}

interface KindMessage {
  readonly parts: readonly KindPart[];
  readonly contextId?: string;
}

/** A task, message or event of 0.2 and 0.3, whose `kind` tells them apart. */
export interface KindResult {
  readonly kind: string;
  readonly id?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly parts?: readonly KindPart[];
  readonly status?: { readonly state: string; readonly message?: KindMessage };
  readonly artifacts?: readonly { readonly parts: readonly KindPart[] }[];
  readonly artifact?: { readonly parts: readonly KindPart[] };
}

export function kindReply(result: KindResult): Reply {
  const taskId = result.kind === 'task' ? result.id : result.taskId;
  const parts = result.parts ?? result.artifact?.parts ?? (result.artifacts ?? []).flatMap((artifact) => artifact.parts);
  const state = result.kind === 'message' ? 'completed' : result.status?.state;
  const note = result.status?.message?.parts.map(({ text }) => text ?? '').join('');
  return {
    ...(taskId === undefined ? {} : { taskId }),
    ...(result.contextId === undefined ? {} : { contextId: result.contextId }),
    ...(state === undefined ? {} : { state }),
    ...(note === undefined ? {} : { note }),
    texts: parts.flatMap(({ text }) => (text === undefined ? [] : [text])),
    data: parts.flatMap(({ data }) => (data === undefined ? [] : [data])),
    files: parts.flatMap(({ file }) => (file === undefined ? [] : [fileReply(file)])),
  };
}

function fileReply({ name, mimeType, bytes }: NonNullable<KindPart['file']>): Reply['files'][number] {
  return {
    ...(name === undefined ? {} : { name }),
    ...(mimeType === undefined ? {} : { mediaType: mimeType }),
    ...(bytes === undefined ? {} : { base64: bytes }),
  };
}

/** A message of 0.2 and 0.3. */
export function kindMessage({ text, contextId, taskId, file, data }: Say): object {
  const parts: object[] = [{ kind: 'text', text }];
  if (file !== undefined) parts.push({ kind: 'file', file: { name: file.name, mimeType: file.mediaType, bytes: file.base64 } });
  if (data !== undefined) parts.push({ kind: 'data', data });
  return {
    message: {
      ...{ kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts },
      ...(contextId === undefined ? {} : { contextId }),
      ...(taskId === undefined ? {} : { taskId }),
    },
  };
}
