import { options, render } from 'preact';
import { SignedIn } from './agents/signed-in.tsx';
import { App } from './app.tsx';
import { withPrefix } from './prefix.ts';
import { path } from './route.ts';
import './style/base.css';
import './style/shell.css';
import './style/parts.css';

// Pages link to each other as `/console/…`. Behind a proxy with a prefix, the links have it too.
const before = options.vnode;
options.vnode = (vnode) => {
  const { href } = vnode.props as { href?: unknown };
  if (vnode.type === 'a' && typeof href === 'string' && href.startsWith('/console')) Object.assign(vnode.props, { href: withPrefix(href) });
  before?.(vnode);
};

const root = document.getElementById('app');
if (root !== null) render(path.value === '/signed-in' ? <SignedIn /> : <App />, root);
