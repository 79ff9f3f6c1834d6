import type { LabelJob } from '../../../../../sdk/typescript/src/index.js';
import { single } from '../../../device/single.js';
import { newScanId } from '../../../queue/scans.js';
import { api } from '../../../session/session.js';
import { dateTime, t, textOf } from '../../../texts/texts.js';
import { useAction, useLoad } from '../../../ui/load.js';
import { Content, Problem, Tag } from '../../../ui/parts.js';
import { officeLink } from '../../../ui/router.js';
import { Panel } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';

const SHOWN = 50;
const FAILED = new Set<string>(['failed', 'unconfirmed', 'expired'] satisfies LabelJob['status'][]);

type PanelProps = { station: string; closeLink: string; onChanged: () => void };

/** The latest labels of a station, and a button that prints one again that was not printed. */
export function StationPanel({ station, closeLink, onChanged }: PanelProps) {
  const labels = useLoad(
    async (signal) => (await api().packages.listLabelJobs({ station, limit: SHOWN }, { signal })).data,
    [station],
  );
  const print = useAction(async (job: LabelJob) => {
    await api().packages.reprintLabelJob({ print_id: newScanId(), job_id: job.job_id });
    toast(t('officeParcels.queued', { station, count: 1 }));
    labels.reload();
    onChanged();
  });
  return (
    <Panel title={station} closeLink={closeLink}>
      <section class="stack" aria-label={t('stations.labels')}>
        <h3>{t('stations.labels')}</h3>
        <Problem text={print.error} />
        <Content of={labels}>
          {(jobs) =>
            jobs.length === 0 ? (
              <p class="muted">{t('stations.noLabels')}</p>
            ) : (
              <Labels jobs={jobs} isBusy={print.isBusy} onPrint={print.run} />
            )
          }
        </Content>
      </section>
    </Panel>
  );
}

type LabelsProps = { jobs: LabelJob[]; isBusy: boolean; onPrint: (job: LabelJob) => void };

function Labels({ jobs, isBusy, onPrint }: LabelsProps) {
  const printedAgain = new Set(jobs.flatMap(({ reprint_of }) => reprint_of ?? []));
  return (
    <ul class="plain-list">
      {jobs.map((job) => {
        const { job_id, house_number, status, reason, created_at } = job;
        const isOpen = FAILED.has(status) && !printedAgain.has(job_id);
        return (
          <li key={job_id}>
            <a class="mono strong" href={officeLink(['parcels', house_number])}>
              {house_number}
            </a>{' '}
            <Tag tint={status === 'printed' ? 'good' : isOpen ? 'bad' : 'plain'}>
              {textOf('labelStatus', status)}
            </Tag>{' '}
            <span class="muted">{dateTime(created_at)}</span>
            {reason && <p class="muted break">{reason}</p>}
            {isOpen && (
              <button type="button" class="quiet" disabled={isBusy} onClick={single(() => onPrint(job))}>
                {t('stations.printAgain')}
                <span class="unseen"> {house_number}</span>
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
