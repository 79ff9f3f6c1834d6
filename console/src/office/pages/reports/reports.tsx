import { settings } from '../../../device/settings.js';
import { api } from '../../../session/session.js';
import { loadReportsTexts } from '../../../texts/on-use/reports.js';
import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Choice, Content, Field, Heading, Problem } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { courierOptions, useCouriers } from '../../list/courier-options.js';
import { lastDays } from '../../../ui/data/days.js';
import { faultOf, lastWeek, MOST_DAYS, type Unit } from './periods.js';
import { Sections } from './sections.js';
import { WorkSections, WORK_REPORTS, type WorkReport } from './work-sections.js';

const PRESETS = ['7', 'week', '14', '31'] as const;
type Preset = (typeof PRESETS)[number];

const periodOf = (preset: Preset) => {
  const { timeZone } = settings.value;
  return preset === 'week' ? lastWeek(Date.now(), timeZone) : lastDays(Number(preset), Date.now(), timeZone);
};
const REPORTS = ['received', ...WORK_REPORTS] as const;
type Report = (typeof REPORTS)[number];

/** The page with its texts. */
export async function loadReportsPage() {
  await loadReportsTexts();
  return ReportsPage;
}

type Choices = { from: string; to: string; courier: string; unit: Unit; report: Report };

/** Returns what the address says. By default, what was received in the last seven days, of all couriers. */
function choicesOf(query: URLSearchParams | undefined): Choices {
  const week = lastDays(7, Date.now(), settings.value.timeZone);
  return {
    from: query?.get('from') ?? week.from,
    to: query?.get('to') ?? week.to,
    courier: query?.get('courier') ?? '',
    unit: query?.get('by') === 'week' ? 'week' : 'day',
    report: REPORTS.find((each) => each === query?.get('report')) ?? 'received',
  };
}

const open = ({ from, to, courier, unit, report }: Choices) =>
  openAddress(
    officeLink('reports', {
      from,
      to,
      ...(courier ? { courier } : {}),
      ...(unit === 'week' ? { by: 'week' } : {}),
      ...(report === 'received' ? {} : { report }),
    }),
  );

/** What was received, shipped, announced and left without a customer in a period, and who did it. The choices are in the address. */
function ReportsPage() {
  const choices = choicesOf(officeAddress.value?.query);
  const { from, to, report } = choices;
  const fault = faultOf(from, to);
  return (
    <>
      <Heading title={t('reports.title')} />
      <p class="lead">{t(`reportLead.${report}`)}</p>
      <Form choices={choices} />
      {fault ? (
        <Problem text={t(`reports.${fault}`, { days: MOST_DAYS })} />
      ) : report === 'received' ? (
        <Received of={choices} />
      ) : (
        <Work of={choices} report={report} />
      )}
    </>
  );
}

const queryOf = ({ from, to, courier }: Choices) => ({
  from,
  to,
  day_zone: 'tenant' as const,
  ...(courier ? { courier_id: courier } : {}),
});

function Received({ of }: { of: Choices }) {
  const { from, to, courier, unit } = of;
  const figures = useLoad(
    async (signal) => (await api().packages.statistics(queryOf(of), { signal })).data,
    [from, to, courier],
  );
  return <Content of={figures}>{(data) => <Sections of={data} unit={unit} courier={courier} />}</Content>;
}

function Work({ of, report }: { of: Choices; report: WorkReport }) {
  const { from, to, courier, unit } = of;
  const figures = useLoad(
    async (signal) => (await api().packages.workStatistics(queryOf(of), { signal })).data,
    [from, to, courier],
  );
  return <Content of={figures}>{(data) => <WorkSections of={data} report={report} unit={unit} />}</Content>;
}

function Form({ choices }: { choices: Choices }) {
  const { from, to, courier, unit, report } = choices;
  const couriers = useCouriers();
  const preset = PRESETS.find((each) => {
    const period = periodOf(each);
    return period.from === from && period.to === to;
  });
  const setDay = (name: 'from' | 'to') => (day: string) => {
    if (/^\d{4}-\d\d-\d\d$/.test(day)) open({ ...choices, [name]: day });
  };
  return (
    <div class="list-tools">
      <Choice
        label={t('reports.report')}
        value={report}
        onValue={(value) =>
          open({ ...choices, report: REPORTS.find((each) => each === value) ?? 'received' })
        }
        options={REPORTS.map((each) => [each, t(`report.${each}`)])}
      />
      <Choice
        label={t('reports.last')}
        value={preset ?? ''}
        onValue={(value) => {
          const chosen = PRESETS.find((each) => each === value);
          if (chosen) open({ ...choices, ...periodOf(chosen) });
        }}
        options={[
          ...PRESETS.map((each): [string, string] => [each, t(`reportDays.${each}`)]),
          ['', t('reports.ownDays')],
        ]}
      />
      <Field label={t('office.from')} type="date" value={from} onValue={setDay('from')} />
      <Field label={t('office.to')} type="date" value={to} onValue={setDay('to')} />
      <Choice
        label={t('common.courier')}
        value={courier}
        onValue={(value) => open({ ...choices, courier: value })}
        options={[['', t('common.all')], ...courierOptions(couriers.data)]}
      />
      {report !== 'people' && (
        <Choice
          label={t('reports.by')}
          value={unit}
          onValue={(value) => open({ ...choices, unit: value === 'week' ? 'week' : 'day' })}
          options={(['day', 'week'] as const).map((each) => [each, t(`reportUnit.${each}`)])}
        />
      )}
    </div>
  );
}
