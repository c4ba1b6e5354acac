import type { Logged, TaskEvent } from '../../events.ts';
import type { Json } from '../../json.ts';
import { jsonText } from '../../large-json.ts';
import type { Frame, RpcId, StreamWriter } from '../dialect.ts';

/** Wraps a result in a JSON-RPC response, or returns it bare where the binding has no envelope (HTTP+JSON). */
export function envelope(requestId: RpcId | undefined): (result: Json) => Frame['data'] {
  if (requestId === undefined) return (result) => jsonText(result);
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(requestId)},"result":`;
  return (result) => jsonText(result, head, '}');
}

/** The common stream: each event is one frame, and nothing follows the last one. */
export function plainStream(requestId: RpcId | undefined, write: (event: TaskEvent, logged: Logged) => Json): StreamWriter {
  const wrap = envelope(requestId);
  return {
    frames: (batch) => batch.map((logged) => frame(wrap(write(logged.event, logged)), logged)),
    end: () => [],
  };
}

/** Whether an event that is written alone, as a webhook receives it, asks its caller something: nothing follows until the caller answers. */
export function isQuestion({ task, statusUpdate }: TaskEvent): boolean {
  return (task ?? statusUpdate)?.status.state === 'TASK_STATE_INPUT_REQUIRED';
}

/** A frame with the sequence number of its event, if it has one. */
export function frame(data: Frame['data'], logged: Logged): Frame {
  return logged.seq === undefined ? { data } : { data, id: logged.seq };
}

/** Several frames for one logged event. Only the last carries the event's id: a client that resumed between them would lose the rest. */
export function framesOf(datas: readonly Frame['data'][], logged: Logged): readonly Frame[] {
  return datas.map((data, at) => (at === datas.length - 1 ? frame(data, logged) : { data }));
}
