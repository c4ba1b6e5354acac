import type { Message, Part } from '#protocol';
import { getTextFromMessage } from '#protocol';
import { spansOf } from '../tasks/spans.ts';
import { scaleOf, sharesOf } from '../tasks/time-scale.ts';
import type { SharedFile, SharedTask } from './shared.ts';
import { DATA_ID } from './shared.ts';

const STYLE = `:root{color-scheme:light dark;--ink:light-dark(#1a1d24,#e8eaf0);--dim:light-dark(#5a6172,#9aa3b5);--line:light-dark(#dfe3ea,#2a2f3b);--bg:light-dark(#f5f6f8,#101318);--panel:light-dark(#fff,#181c24);--accent:light-dark(#3a4fc9,#8fa0ff);--warn:light-dark(#b8740a,#e2a84b);--ok:light-dark(#1b7a3d,#5cc689)}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--bg);max-width:960px;margin:24px auto;padding:0 16px}
section{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:16px;margin:16px 0}
h1{font-size:22px}h2{font-size:18px;margin:0 0 4px}h3{font-size:13px;color:var(--dim);margin:16px 0 4px}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.5 ui-monospace,monospace;margin:4px 0}
p{margin:4px 0}.dim{color:var(--dim);font-size:13px}.user{border-left:4px solid var(--accent);padding-left:12px}
.bar{display:grid;grid-template-columns:40% 1fr 80px;gap:8px;font-size:13px;align-items:center}
.bar span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.bar div{position:relative;height:12px}
.bar i{position:absolute;height:100%;min-width:3px;border-radius:2px;background:var(--ok)}.turn i{background:var(--accent)}.question i{background:var(--warn)}
img{max-width:100%}`;
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function partHtml({ text, data, raw, url, filename, mediaType = '' }: Part): string {
  if (text !== undefined) return `<pre>${escaped(text)}</pre>`;
  if (data !== undefined) return `<pre>${escaped(JSON.stringify(data, null, 2))}</pre>`;
  const name = escaped(filename ?? mediaType);
  if (raw !== undefined && PICTURE.test(mediaType)) return `<img alt="${name}" src="data:${mediaType};base64,${escaped(raw)}">`;
  return `<p class="dim">file ${name} ${escaped(url ?? '')}</p>`;
}

function messageHtml({ role, parts }: Message): string {
  const isUser = role === 'ROLE_USER';
  return `<h3>${isUser ? 'caller' : 'agent'}</h3><div class="${isUser ? 'user' : ''}">${parts.map(partHtml).join('')}</div>`;
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function timelineHtml({ events }: SharedTask): string {
  const spans = spansOf(events, 0);
  if (spans.length === 0) return '';
  const scale = scaleOf(spans);
  const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;
  const bars = spans.slice(0, 500).map(({ kind, label, from, to }) => {
    const [left, right] = [scale.place(from), scale.place(to)];
    const bar = `<i style="left:${percent(left)};width:${percent(right - left)}"></i>`;
    return `<div class="bar ${kind}"><span>${kind} ${escaped(label)}</span><div>${bar}</div><span class="dim">${seconds(to - from)}</span></div>`;
  });
  const { workMs, waitMs } = sharesOf(spans);
  return `<h3>timeline: worked ${seconds(workMs)}, waited for a person ${seconds(waitMs)}</h3>${bars.join('')}`;
}

function taskHtml(shared: SharedTask): string {
  const { about, task } = shared;
  const state = about.state.replace('TASK_STATE_', '').replaceAll('_', ' ').toLowerCase();
  const closing = task.status.message;
  const messages = [...(task.history ?? []), ...(closing === undefined ? [] : [closing])];
  const artifacts = (task.artifacts ?? []).map(
    ({ name, artifactId, parts }) => `<h3>artifact ${escaped(name ?? artifactId)}</h3>${parts.map(partHtml).join('')}`,
  );
  return `<section><h2>${escaped(about.agent)}: ${state}</h2><p class="dim">task ${escaped(about.id)}, ${escaped(about.statusAt)}, ${about.last} events</p>${messages.map(messageHtml).join('')}${artifacts.join('')}${timelineHtml(shared)}</section>`;
}

/** The words of the first message, for the title and the file's name. */
export function titleOfShared({ tasks }: SharedFile): string {
  const first = tasks[0]?.task.history?.find(({ role }) => role === 'ROLE_USER');
  return (first === undefined ? '' : getTextFromMessage(first).replaceAll(/\s+/g, ' ').trim().slice(0, 80)) || 'A task';
}

/** One HTML page without scripts that needs nothing else: to read it offline, or to import it. */
export function sharedHtml(shared: SharedFile): string {
  const title = escaped(titleOfShared(shared));
  // A script element of this type is data, and does not run. Its text must not contain the end of the element.
  const data = JSON.stringify(shared).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><title>${title}</title><style>${STYLE}</style></head>
<body><h1>${title}</h1><p class="dim">Exported from Parley, ${escaped(shared.exportedAt)}. Credentials are removed.</p>
${shared.tasks.map(taskHtml).join('\n')}
<script type="application/json" id="${DATA_ID}">${data}</script></body></html>
`;
}
