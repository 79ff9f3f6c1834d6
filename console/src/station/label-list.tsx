import { useEffect } from 'preact/hooks';
import type { LabelJob } from '../../../sdk/typescript/src/index.js';
import { printOrSay } from '../queue/answers.js';
import { messageOf, session } from '../session/session.js';
import { t, textOf } from '../texts/texts.js';
import { show } from '../ui/outcome.js';
import { single } from '../device/single.js';
import { dismissJob, dismissLabel, forgottenLabels, openJobs, printJobAgain, refreshJobs } from './labels.js';
import { settings } from '../device/settings.js';

const REFRESH_MS = 60_000;

/** The labels that were not printed: of scans that another tab or an earlier page sent, and of jobs that no printer has done. */
export function ForgottenLabels() {
  const { labels: mode } = settings.value;
  useEffect(() => {
    if (mode !== 'auto' && mode !== 'queue') return undefined;
    const look = () => void refreshJobs().catch(() => undefined);
    look();
    const timer = setInterval(look, REFRESH_MS);
    return () => clearInterval(timer);
  }, [mode]);
  const labels = forgottenLabels(session.value?.user.id ?? '');
  const jobs = openJobs.value;
  if (labels.length + jobs.length === 0) return null;
  return (
    <details class="notice labels" data-testid="labels">
      <summary>{t('labels.title', { count: labels.length + jobs.length })}</summary>
      <ul>
        {labels.map((label) => (
          <li key={label.package_id}>
            <span class="mono strong">{label.house_number}</span> <span class="mono">{label.scan}</span>
            <LabelButtons
              name={label.house_number}
              onPrint={() => void printOrSay(label.package_id)}
              onDismiss={() => void dismissLabel(label)}
            />
          </li>
        ))}
        {jobs.map((job) => (
          <li key={job.job_id}>
            <span class="mono strong">{job.house_number}</span>{' '}
            <span>{job.reason ?? textOf('job', job.status)}</span>
            <LabelButtons
              name={job.house_number}
              onPrint={() => void printAgain(job)}
              onDismiss={() => dismissJob(job)}
            />
          </li>
        ))}
      </ul>
    </details>
  );
}

async function printAgain(job: LabelJob): Promise<void> {
  try {
    await printJobAgain(job);
  } catch (error) {
    show('warn', t('word.noLabel'), messageOf(error));
  }
}

type ButtonProps = { name: string; onPrint: () => void; onDismiss: () => void };

const LabelButtons = ({ name, onPrint, onDismiss }: ButtonProps) => (
  <>
    <button type="button" class="quiet" onClick={single(onPrint)}>
      {t('label.print')}
      <span class="unseen"> {name}</span>
    </button>
    <button type="button" class="quiet" onClick={single(onDismiss)}>
      {t('queue.dismiss')}
      <span class="unseen"> {name}</span>
    </button>
  </>
);
