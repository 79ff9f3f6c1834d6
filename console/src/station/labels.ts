// The labels of received parcels: each is printed, or listed until a person has printed it.
import { signal } from '@preact/signals';
import { settings } from '../device/settings.js';
import { newScanId, storable } from '../queue/scans.js';
import { removeLabels, unprinted, type Settled, type UnprintedLabel } from '../queue/store.js';
import { api, session } from '../session/session.js';
import { printLabel } from '../staff/label.js';
import type { LabelJob } from '../../../sdk/typescript/src/index.js';

/** Labels that this tab is printing. They are not listed as forgotten. */
const printing = signal<ReadonlySet<string>>(new Set());

/** Jobs of this station that no printer has printed. */
export const openJobs = signal<LabelJob[]>([]);

/** Returns the label that a received parcel needs, or undefined. */
export function labelOf({ scan, result }: Settled): UnprintedLabel | undefined {
  const { kind, scan: text } = scan.request;
  const { parcel } = result;
  const isReceived = kind === 'receive' && result.outcome === 'done';
  if (!isReceived || !parcel?.package_id || settings.value.labels === 'off') return undefined;
  return {
    package_id: parcel.package_id,
    owner: scan.owner,
    house_number: parcel.house_number ?? '',
    scan: text,
    at: new Date().toISOString(),
  };
}

/** Prints a label at the printer of the station if a bridge serves it, otherwise as this device is set up. */
export async function printOrQueue(packageId: string): Promise<'queue' | 'browser'> {
  printing.value = new Set([...printing.value, packageId]);
  try {
    const isQueued = await usesQueue();
    if (isQueued) await queueLabel(packageId);
    else await printLabel(packageId);
    await removeLabels([{ package_id: packageId }]);
    return isQueued ? 'queue' : 'browser';
  } finally {
    printing.value = new Set([...printing.value].filter((each) => each !== packageId));
  }
}

/** Forgets a label that a person does not need. */
export const dismissLabel = (label: UnprintedLabel): Promise<void> => removeLabels([label]);

/** The labels of a user that were not printed, for example because the page was loaded again. */
export const forgottenLabels = (owner: string): UnprintedLabel[] =>
  unprinted.value.filter((label) => label.owner === owner && !printing.value.has(label.package_id));

const stationName = () => storable(settings.value.station).trim() || 'Console';

/** The identifier of a printing stays until the service has it, so that a repeated request prints nothing twice. */
const printIds = new Map<string, string>();

async function queueLabel(packageId: string): Promise<void> {
  const printId = printIds.get(packageId) ?? newScanId();
  printIds.set(packageId, printId);
  await api().packages.createLabelJobs({
    print_id: printId,
    station: stationName(),
    package_ids: [packageId],
  });
  printIds.delete(packageId);
  window.setTimeout(() => void refreshJobs().catch(() => undefined), LATE_MS);
}

/** A bridge fetches its jobs each second. A job that waits for so long is shown as not printed. */
const LATE_MS = 60_000;
/** The time for which a found bridge is not looked for again. A missing one is looked for with each label. */
const TRUST_MS = 60_000;
const PAGE = 100;

/** Jobs that a person has looked after. */
const hidden = new Set<string>();

let lastSeen = { station: '', atMs: -Infinity, isServed: false };

async function usesQueue(): Promise<boolean> {
  const { labels } = settings.value;
  if (labels !== 'auto') return labels === 'queue';
  const station = stationName();
  const isKnown = lastSeen.isServed && lastSeen.station === station && Date.now() - lastSeen.atMs <= TRUST_MS;
  if (!isKnown) await refreshJobs();
  return lastSeen.isServed;
}

/** Reads the jobs of the station, and whether a bridge fetches them. */
export async function refreshJobs(): Promise<void> {
  const station = stationName();
  const { data, meta } = await api().packages.listLabelJobs({ station, limit: PAGE });
  const before = Date.now() - LATE_MS;
  lastSeen = { station, atMs: Date.now(), isServed: meta.has_bridge === true };
  const printedAgain = new Set(data.flatMap(({ reprint_of }) => reprint_of ?? []));
  openJobs.value = data.filter(
    (job) => isNotPrinted(job, before) && !printedAgain.has(job.job_id) && !hidden.has(job.job_id),
  );
}

const isNotPrinted = ({ status, created_at, requested_by }: LabelJob, before: number): boolean =>
  requested_by === session.value?.user.id &&
  (status === 'failed' ||
    status === 'unconfirmed' ||
    status === 'expired' ||
    (status === 'waiting' && momentMs(created_at) < before));

const momentMs = (utc: string) => Date.parse(`${utc.replace(' ', 'T')}Z`);

/** Prints the label of a job again. One that still waits is printed on this device. */
export async function printJobAgain(job: LabelJob): Promise<void> {
  if (job.status === 'waiting') await printLabel(job.package_id, 'pdf');
  else await api().packages.reprintLabelJob({ print_id: newScanId(), job_id: job.job_id });
  hidden.add(job.job_id);
  openJobs.value = openJobs.value.filter(({ job_id }) => job_id !== job.job_id);
}

export function dismissJob({ job_id: id }: LabelJob): void {
  hidden.add(id);
  openJobs.value = openJobs.value.filter(({ job_id }) => job_id !== id);
}
