import type { SourceMutant } from '../mutant.js';

const JOBS = 'test/modules/packages/labels/label-jobs.test.ts';
const BRIDGE = 'test/operations/print-bridge/print-bridge.test.ts';
const QUEUE = 'test/console/queue.test.ts';
const SCANNER = 'test/console/scanner.test.ts';
const WITHOUT_END = 'test/console/scan-without-end.test.ts';

const CLAIM = 'src/modules/packages/label-jobs/claim-queries.ts';
const CREATE = 'src/modules/packages/label-jobs/create.ts';
const REPORT = 'src/modules/packages/label-jobs/report.ts';
const IDLE = 'test/console/device/idle-lock.test.ts';
const COVER = 'test/console/device/locked-screen.test.ts';
const BATCHES = 'console/src/queue/batches.ts';

/** Guards of label printing and of the console's queue. */
export const FLOOR: readonly SourceMutant[] = [
  {
    name: 'labels: a claimed job is not claimed again during its lease',
    file: CLAIM,
    find: "(j.status = 'waiting' or j.lease_until <= now())",
    replace: 'true',
    tests: [{ file: JOBS, titles: ['20 bridges that ask at once get each job once'] }],
  },
  {
    name: 'labels: a job that is sent is not claimable',
    file: CLAIM,
    find: "j.status in ('waiting', 'claimed')",
    replace: "j.status in ('waiting', 'claimed', 'sending')",
    tests: [{ file: JOBS, titles: ['a job that was reported as sending is never claimable again'] }],
  },
  {
    name: 'labels: an expired job is not claimable',
    file: CLAIM,
    find: 'and j.expires_at > now() ',
    replace: '',
    tests: [{ file: JOBS, titles: ['a job that waited for 12 hours is expired'] }],
  },
  {
    name: 'labels: only the latest claim reports',
    file: REPORT,
    find: 'job.claimId === claimId && ',
    replace: '',
    tests: [{ file: JOBS, titles: ['a job whose lease ends is claimable again'] }],
  },
  {
    name: 'labels: an expired job is not sent by the bridge that claimed it',
    file: REPORT,
    find: ' && !isTooLate',
    replace: '',
    tests: [{ file: JOBS, titles: ['a job that waited for 12 hours is expired'] }],
  },
  {
    name: 'labels: a request is executed once',
    file: CREATE,
    find: 'if (earlier.length > 0) {',
    replace: 'if (earlier.length > 1_000) {',
    tests: [{ file: JOBS, titles: ['a repeated request creates nothing and returns the same jobs'] }],
  },
  {
    name: 'labels: a print_id belongs to one request',
    file: CREATE,
    find: "if (!areSame(wanted, earlier)) throw new ApiError('print_id_reused');",
    replace: '',
    tests: [{ file: JOBS, titles: ['the same print_id for another station'] }],
  },
  {
    name: 'labels: a station has a limit',
    file: CREATE,
    find: 'tx.later(lockLabelStation(tx.tenantId, station));',
    replace: '',
    tests: [{ file: JOBS, titles: ['a station has at most 1,000 waiting labels'] }],
  },
  {
    name: 'labels: an open job is not printed again',
    file: CREATE,
    find: 'if (earlier.length === 0) await assertEnded(tx, job);',
    replace: '',
    tests: [{ file: JOBS, titles: ['a job that has not ended is rejected with 409'] }],
  },
  {
    name: 'bridge: a label is noted before its first byte is sent',
    file: 'print-bridge/bridge.ts',
    find: "await journal.note(job, 'begun');",
    replace: '',
    tests: [{ file: BRIDGE, titles: ['prints no label twice on a TCP printer'] }],
  },
  {
    name: 'console: a refused batch is halved',
    file: BATCHES,
    find: 'this.#suspects = others.length + 1;',
    replace: 'this.#suspects = 0;',
    tests: [{ file: QUEUE, titles: ['and all others are sent'] }],
  },
  {
    name: 'console: a scan on which the service fails goes behind the others',
    file: BATCHES,
    find: 'this.postpone([first]);',
    replace: '',
    tests: [{ file: QUEUE, titles: ['stays in the queue after 500, behind all others'] }],
  },
  {
    name: 'console: postponed scans take turns',
    file: BATCHES,
    find: 'this.#postponed.delete(scan_id);\n      this.#postponed.add(scan_id);',
    replace: 'this.#postponed.add(scan_id);',
    tests: [{ file: QUEUE, titles: ['lets the other scans that failed with it be tried again'] }],
  },
  {
    name: 'console: a batch has the scans of one user',
    file: 'console/src/queue/scans.ts',
    find: "scan.owner === owner && scan.state === 'waiting'",
    replace: "scan.state === 'waiting'",
    tests: [{ file: QUEUE, titles: ['never has the scans of another user'] }],
  },
  {
    name: 'console: a conflict stays until a person has seen it',
    file: 'console/src/queue/scans.ts',
    find: "(outcome === 'conflict' && reason === 'already_received')",
    replace: "outcome === 'conflict'",
    tests: [{ file: QUEUE, titles: ['that was not executed'] }],
  },
  {
    name: 'idle lock: the session ends at the service',
    file: 'console/src/session/session.ts',
    find: '  if (!isExpired.value) endAtService(user.id);\n  closeScreen();',
    replace: '  closeScreen();',
    tests: [{ file: IDLE, titles: ['ends the session of a station'] }],
  },
  {
    name: 'idle lock: a reload does not open the page',
    file: 'console/src/session/session.ts',
    find: 'if (stored.isLocked) closeScreen();',
    replace: '',
    tests: [{ file: COVER, titles: ['the service has not heard of'] }],
  },
  {
    name: 'idle lock: the first input after a pause does not end the pause',
    file: 'console/src/session/idle.ts',
    find: 'if (!isPause(event)) noteInput();',
    replace: 'noteInput();\n    isPause(event);',
    tests: [{ file: IDLE, titles: ['a device that slept'] }],
  },
  {
    name: 'idle lock: a scan at a locked station is not of the user who had left',
    file: 'console/src/workplace.tsx',
    find: 'if (isLocked.value) play(',
    replace: 'if (Math.random() > 2) play(',
    tests: [{ file: IDLE, titles: ['a scan at a locked station'] }],
  },
  {
    name: 'idle lock: nobody reads what may be a password',
    file: 'console/src/session/locked-scans.ts',
    find: 'CODE.test(text) && !(isStation() && PIN.test(text)) && ',
    replace: '',
    tests: [{ file: IDLE, titles: ['a scan at a locked station'] }],
  },
  {
    name: 'idle lock: nobody reads what may be a PIN',
    file: 'console/src/session/locked-scans.ts',
    find: '!(isStation() && PIN.test(text)) && ',
    replace: '',
    tests: [
      { file: 'test/console/device/pins.test.ts', titles: ['a PIN that is typed as fast as a scanner does'] },
    ],
  },
  {
    name: 'station: what somebody else has left is handed over',
    file: 'console/src/station/work.ts',
    find: 'if (owner !== next.owner) for (const number of left) handOverScan(number);',
    replace: 'if (owner !== undefined) return;',
    tests: [{ file: 'test/console/device/left-parcel.test.ts', titles: ['what a user has left in a tab'] }],
  },
  {
    name: 'station: a short number that waited for the disk is a weight',
    file: 'console/src/station/receiving.ts',
    find: 'hasParcelInWork.value ? isWeight(text) : isWeightText(text)',
    replace: 'isWeightText(text)',
    tests: [
      {
        file: 'test/console/intake/slow-disk.test.ts',
        titles: ['entered while the disk stores the parcel before'],
      },
    ],
  },
  {
    name: 'idle lock: somebody else receives no parcel of the user who had left',
    file: 'console/src/station/leave.tsx',
    find: 'else if (isLocked.value) {',
    replace: 'else if (Math.random() > 2) {',
    tests: [{ file: IDLE, titles: ['a scan at a locked station'] }],
  },
  {
    name: 'idle lock: nothing of the page is shown',
    file: 'console/src/styles/parts.css',
    find: '[data-locked] body * {\n  visibility: hidden;',
    replace: '[data-locked] body * {',
    tests: [{ file: COVER, titles: ['covers everything'] }],
  },
  {
    name: 'idle lock: no shortcut opens a dialog before the login',
    file: 'console/src/workplace.tsx',
    find: 'if (!isLocked.value) run();',
    replace: 'run();',
    tests: [{ file: COVER, titles: ['covers everything'] }],
  },
  {
    name: 'idle lock: the input that locks does nothing else',
    file: 'console/src/station/idle-lock.ts',
    find: '    event.preventDefault();\n    event.stopImmediatePropagation();\n',
    replace: '',
    tests: [{ file: COVER, titles: ['the input that locks'] }],
  },
  {
    name: 'idle lock: a session that had ended before is locked too',
    file: 'console/src/session/session.ts',
    find: 'if (!user || isLocked.value) return;',
    replace: 'if (!user || isExpired.value) return;',
    tests: [{ file: COVER, titles: ['that had ended before'] }],
  },
  {
    name: 'idle lock: a pause without a connection is not forgotten',
    file: 'console/src/station/idle-lock.ts',
    find: '    event.stopImmediatePropagation();\n  }\n  return true;',
    replace: '    event.stopImmediatePropagation();\n  }\n  return isLocked.value;',
    tests: [{ file: COVER, titles: ['without a connection'] }],
  },
  {
    name: 'console: the same code at once is one scan',
    file: 'console/src/scanner/scanner.ts',
    find: 'text === last.text && timeMs - last.endMs <= AGAIN_MS',
    replace: 'false',
    tests: [{ file: SCANNER }],
  },
  {
    name: 'console: two scans without an end key are never joined',
    file: 'console/src/scanner/scanner.ts',
    find: 'rest !== undefined && (!hasEndKey || isTypedNumber(ended, from, rest))',
    replace: 'rest !== undefined && isTypedNumber(ended, from, rest)',
    tests: [{ file: WITHOUT_END }],
  },
  {
    name: 'console: a number that a person types behind a scan without an end key is not joined to it',
    file: 'console/src/scanner/scanner.ts',
    find: ' || isTypedNumber(ended, from, rest)',
    replace: '',
    tests: [{ file: WITHOUT_END, titles: ['is not joined to the scan: nothing is taken'] }],
  },
  {
    name: 'console: a digit that no field takes is no part of a scan a moment later',
    file: 'console/src/scanner/chain.ts',
    find: ' || isBesideFields(keys)',
    replace: '',
    tests: [{ file: WITHOUT_END, titles: ['ms before a scan'] }],
  },
  {
    name: "console: after a scan, the keys in a field for a text are a person's",
    file: 'console/src/scanner/scanner.ts',
    find: "key.place === 'text' ? Math.min(pauseMs(), PAUSE_UNKNOWN_MS) : pauseMs()",
    replace: 'pauseMs()',
    tests: [{ file: WITHOUT_END }],
  },
];
