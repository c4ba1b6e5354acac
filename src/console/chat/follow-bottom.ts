import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** The reader is at the bottom if no more than this is below. */
const NEAR_PX = 48;

/** Keeps a box at its bottom while its content grows, until the reader scrolls up. */
export function useBottom(): {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  readonly isFollowing: boolean;
  readonly toBottom: () => void;
} {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [isFollowing, setFollowing] = useState(true);
  const set = (value: boolean): void => {
    follows.current = value;
    setFollowing(value);
  };
  const toBottom = (): void => {
    set(true);
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  };
  useEffect(() => {
    const [outer, inner] = [box.current, content.current];
    if (outer === null || inner === null) return;
    let last = outer.scrollTop;
    const onScroll = (): void => {
      const isNear = outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR_PX;
      // Growth never moves the content down, so only a reader scrolls up.
      if (isNear) set(true);
      else if (outer.scrollTop < last - 1) set(false);
      last = outer.scrollTop;
    };
    const measure = new ResizeObserver(() => {
      if (follows.current) outer.scrollTop = outer.scrollHeight;
    });
    measure.observe(inner);
    measure.observe(outer);
    outer.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      measure.disconnect();
      outer.removeEventListener('scroll', onScroll);
    };
  }, []);
  return { box, content, isFollowing, toBottom };
}
