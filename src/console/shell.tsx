import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { menu } from './menu.ts';
import { NAV } from './nav.ts';
import { approvals, health, isAway } from './ops/watch.ts';
import { Palette } from './palette.tsx';
import { path } from './route.ts';
import { signOut, token } from './session.ts';
import { theme, toggleTheme } from './theme.ts';
import { subject } from './title.ts';
import { notice } from './ui/basic.tsx';
import { Icon } from './ui/icons.tsx';
import { forgetTraffic } from './wire/recorder.ts';

const isMenuOpen = signal(false);

/** The frame of every page: menu, content, and the state of the connection. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const here = path.value;
  useEffect(() => {
    isMenuOpen.value = false;
  }, [here]);
  const title = titleOf(here);
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="side">
        <div class="brand">
          <Logo />
          <span>Parley</span>
          <button
            type="button"
            class="menu"
            aria-expanded={isMenuOpen.value}
            aria-controls="nav"
            onClick={() => {
              isMenuOpen.value = !isMenuOpen.value;
            }}
          >
            Menu
            {approvals.value.length > 0 ? (
              <b class="bubble">
                {approvals.value.length} <span class="unseen">approvals</span>
              </b>
            ) : null}
          </button>
        </div>
        <nav id="nav" class={isMenuOpen.value ? 'open' : ''} aria-label="Pages">
          {menu.value.map(([to, label, icon, key]) => (
            <a
              key={to}
              href={`/console${to}`}
              title={`${label} (g then ${key})`}
              {...(here === to || here.startsWith(`${to}/`) ? { 'aria-current': 'page' } : {})}
            >
              <Icon name={icon} />
              <span>{label}</span>
              {to === '/approvals' && approvals.value.length > 0 ? <b class="bubble">{approvals.value.length}</b> : null}
            </a>
          ))}
        </nav>
        <Foot />
      </header>
      <main id="main" tabIndex={-1}>
        {isAway.value ? (
          <p class="problem away" role="alert">
            The node does not respond. This page continues automatically when it is back.
          </p>
        ) : null}
        {children}
      </main>
      <Palette />
      <div class={notice.value === '' ? 'notice' : 'notice on'} role="status">
        {notice.value}
      </div>
    </div>
  );
}

/** Tells tabs apart, and how many questions are open: `(2) Where is my parcel? · Tasks · Parley`. */
function titleOf(here: string): string {
  const [, label = 'Console'] = NAV.find(([to]) => here.startsWith(to)) ?? [];
  const waiting = approvals.value.length;
  return `${waiting === 0 ? '' : `(${waiting}) `}${[subject.value, label, 'Parley'].filter((each) => each !== '').join(' · ')}`;
}

/** Forgets the token, and the requests that were sent with it. */
function forget(): void {
  forgetTraffic();
  signOut();
}

/** The end of the menu: theme, sign-out and the documentation. */
function Foot() {
  return (
    <div class="side-foot">
      <button type="button" class="quiet" onClick={toggleTheme} title="Switch theme">
        {theme.value === 'dark' ? '☾ Dark' : theme.value === 'light' ? '☀ Light' : '◐ As system'}
      </button>
      {token.value === '' ? null : (
        <button type="button" class="quiet" onClick={forget}>
          Forget token
        </button>
      )}
      {health.value?.docs === undefined ? null : (
        <a class="quiet" href={health.value.docs}>
          Documentation
        </a>
      )}
      <span class="dim">
        {health.value === undefined ? '' : `v${health.value.version}`} <kbd>?</kbd> keys
      </span>
    </div>
  );
}

function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path class="one" d="M8 9h11a3 3 0 0 1 3 3v3a3 3 0 0 1-3 3h-5l-4 4v-4H8z" />
      <path class="two" d="M25 13v6a3 3 0 0 1-3 3h-4l3.5 3.5" />
    </svg>
  );
}
