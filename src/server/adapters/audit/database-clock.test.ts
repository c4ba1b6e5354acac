import { expect, it } from 'vitest';
import { createDatabaseClock } from './database-clock.ts';

it('keeps what fast answers said when a slow one comes', () => {
  const clock = createDatabaseClock(() => 1000);
  expect(clock.now()).toBe(1000);
  clock.learn({ sentAt: 1000, at: 6002, receivedAt: 1004 });
  expect(clock.now()).toBe(6000);
  clock.learn({ sentAt: 1000, at: 6001, receivedAt: 1200 });
  expect(clock.now()).toBe(6000);
});

it('is nearer to the truth with every answer', () => {
  const clock = createDatabaseClock(() => 1000);
  clock.learn({ sentAt: 1000, at: 6000, receivedAt: 1100 }); // the difference is 4,900 to 5,000
  clock.learn({ sentAt: 1000, at: 6030, receivedAt: 1060 }); // 4,970 to 5,030
  expect(clock.now()).toBe(5985);
});

it('follows a clock that was set', () => {
  const clock = createDatabaseClock(() => 1000);
  clock.learn({ sentAt: 1000, at: 6001, receivedAt: 1002 });
  expect(clock.now()).toBe(6000);
  clock.learn({ sentAt: 1000, at: 901, receivedAt: 1002 });
  expect(clock.now()).toBe(900);
});

it('does not go back when it is corrected', () => {
  const clock = createDatabaseClock(() => 1000);
  clock.learn({ sentAt: 1000, at: 1010, receivedAt: 1010 });
  expect(clock.now()).toBe(1005);
  clock.learn({ sentAt: 1000, at: 1001, receivedAt: 1001 });
  expect(clock.now()).toBe(1005);
});
