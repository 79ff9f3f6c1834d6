import { convertedPounds, MEASURE_NAMES, type MeasureName, type Measures } from '../staff/parcel.js';
import { pounds, t } from '../texts/texts.js';
import { Field } from '../ui/parts.js';

type Props = {
  measures: Measures;
  wrong: MeasureName[];
  onMeasure: (name: MeasureName, text: string) => void;
};

/** The fields for the weight and the size of a parcel. */
export function MeasureFields({ measures, wrong, onMeasure }: Props) {
  const converted = convertedPounds(measures.weight);
  return (
    <div class="measures">
      {MEASURE_NAMES.map((name) => (
        <Field
          key={name}
          name={name}
          keys="measure"
          label={t(`receive.${name}`)}
          value={measures[name]}
          inputMode="decimal"
          hint={name === 'weight' && converted !== undefined ? `= ${pounds(converted)}` : undefined}
          error={wrong.includes(name) ? wrongText(name, measures[name]) : undefined}
          onValue={(text) => onMeasure(name, text)}
        />
      ))}
    </div>
  );
}

const wrongText = (name: MeasureName, text: string): string =>
  t(name === 'weight' && /[.,]\d{4,}$/.test(text.trim()) ? 'receive.weightDecimals' : `receive.${name}Wrong`);
