import type { Logged } from '../../events.ts';
import { contextId } from '../../ids.ts';
import type { Json } from '../../json.ts';
import type { Task } from '../../task.ts';
import type { Frame, RpcId, StreamWriter } from '../dialect.ts';
import { envelope, frame, framesOf } from '../shared/stream.ts';
import type { Spelling } from './write.ts';
import { isAnswer, writeArtifactUpdate, writeEvent, writeStatusUpdate, writeTask } from './write.ts';

/**
 * A SAM stream is status and artifact updates that are never final, then one task, which is the answer
 * (docs/dialects/sam.md, "Streams"). A peer takes any task for the answer. So the event that ends the
 * work is held back until `end`, and a snapshot of unfinished work is written as updates.
 */
export function openStream(requestId: RpcId | undefined, spelling: Spelling): StreamWriter {
  const wrap = envelope(requestId);
  let held: Logged | undefined;
  const release = (): readonly Frame[] => {
    if (held === undefined) return [];
    const frames = progress(held, spelling).map(wrap);
    const released = framesOf(frames, held);
    held = undefined;
    return released;
  };
  return {
    endsWithTask: true,
    frames: (batch) => {
      const out: Frame[] = [];
      for (const logged of batch) {
        out.push(...release()); // another event follows, so the held one was not the last
        if (endsWork(logged)) held = logged;
        else out.push(...framesOf(progress(logged, spelling).map(wrap), logged));
      }
      return out;
    },
    end: (task) => {
      const last = held;
      held = undefined;
      const answer = task !== undefined && isAnswer(task.status.state) ? writeTask(task, spelling) : undefined;
      if (last === undefined) return answer === undefined ? [] : [{ data: wrap(answer) }];
      return [frame(wrap(answer ?? writeEvent(last.event, spelling)), last)];
    },
  };
}

function endsWork({ event }: Logged): boolean {
  const status = event.task?.status ?? event.statusUpdate?.status;
  return status !== undefined && isAnswer(status.state);
}

function progress({ event }: Logged, spelling: Spelling): readonly Json[] {
  if (event.statusUpdate !== undefined) return [writeStatusUpdate(event.statusUpdate, spelling, false)];
  return event.task === undefined ? [writeEvent(event, spelling)] : snapshot(event.task, spelling);
}

/** SAM's streams have no snapshot of a task, so it is sent as a status and its artifacts. */
function snapshot(task: Task, spelling: Spelling): readonly Json[] {
  const ids = { taskId: task.id, contextId: task.contextId ?? contextId('') };
  const { status, metadata } = task;
  const first = { ...ids, status, ...(metadata === undefined ? {} : { metadata }) };
  const artifacts = (task.artifacts ?? []).map((artifact) => writeArtifactUpdate({ ...ids, artifact }, spelling));
  return [writeStatusUpdate(first, spelling, false), ...artifacts];
}
