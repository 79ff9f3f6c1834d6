import { api } from '../../../session/session.js';
import { loadReportsTexts } from '../../../texts/on-use/reports.js';
import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Choice, Content, Field, Heading, Problem } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { courierOptions, useCouriers } from '../../list/courier-options.js';
import { faultOf, lastDays, MOST_DAYS, type Unit } from './periods.js';
import { Sections } from './sections.js';

const PRESETS = ['7', '14', '31'] as const;

/** The page with its texts. */
export async function loadReportsPage() {
  await loadReportsTexts();
  return ReportsPage;
}

type Choices = { from: string; to: string; courier: string; unit: Unit };

/** Returns what the address says. By default, the last seven days of all couriers. */
function choicesOf(query: URLSearchParams | undefined): Choices {
  const week = lastDays(7);
  return {
    from: query?.get('from') ?? week.from,
    to: query?.get('to') ?? week.to,
    courier: query?.get('courier') ?? '',
    unit: query?.get('by') === 'week' ? 'week' : 'day',
  };
}

const open = ({ from, to, courier, unit }: Choices) =>
  openAddress(
    officeLink('reports', {
      from,
      to,
      ...(courier ? { courier } : {}),
      ...(unit === 'week' ? { by: 'week' } : {}),
    }),
  );

/** What was received in a period, and how long parcels have been in the warehouse. The choices are in the address. */
function ReportsPage() {
  const choices = choicesOf(officeAddress.value?.query);
  const { from, to, courier, unit } = choices;
  const fault = faultOf(from, to);
  const figures = useLoad(
    async (signal) => {
      if (fault) return undefined;
      const query = { from, to, ...(courier ? { courier_id: courier } : {}) };
      return (await api().packages.statistics(query, { signal })).data;
    },
    [from, to, courier],
  );
  return (
    <>
      <Heading title={t('reports.title')} />
      <p class="lead">{t('reports.lead')}</p>
      <Form choices={choices} />
      {fault ? (
        <Problem text={t(`reports.${fault}`, { days: MOST_DAYS })} />
      ) : (
        <Content of={figures}>
          {(data) => data && <Sections of={data} unit={unit} courier={courier} />}
        </Content>
      )}
    </>
  );
}

function Form({ choices }: { choices: Choices }) {
  const { from, to, courier, unit } = choices;
  const couriers = useCouriers();
  const preset = PRESETS.find((days) => {
    const period = lastDays(Number(days));
    return period.from === from && period.to === to;
  });
  const setDay = (name: 'from' | 'to') => (day: string) => {
    if (/^\d{4}-\d\d-\d\d$/.test(day)) open({ ...choices, [name]: day });
  };
  return (
    <div class="list-tools">
      <Choice
        label={t('reports.last')}
        value={preset ?? ''}
        onValue={(days) => days && open({ ...choices, ...lastDays(Number(days)) })}
        options={[
          ...PRESETS.map((days): [string, string] => [days, t(`reportDays.${days}`)]),
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
      <Choice
        label={t('reports.by')}
        value={unit}
        onValue={(value) => open({ ...choices, unit: value === 'week' ? 'week' : 'day' })}
        options={(['day', 'week'] as const).map((each) => [each, t(`reportUnit.${each}`)])}
      />
    </div>
  );
}
