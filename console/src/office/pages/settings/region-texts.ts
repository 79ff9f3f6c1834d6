/** The texts of the time zone and the currency. They load with their tab. */
const regionEn = {
  'region.zone': 'Time zone of the warehouse',
  'region.zoneHint':
    'Now it is {now} there. The console, labels and mails about manifests show times of this zone. Days of bills stay in UTC.',
  'region.currency': 'Currency',
  'region.currencyHint':
    'The code of ISO 4217, for example USD or JMD. It names all amounts and converts none. It cannot change once a bill is published.',
  'region.missing': 'Hours until a delivered parcel is missing',
  'region.missingHint':
    'A parcel is missing if its carrier has delivered it and nobody has scanned it for so many hours. From 1 to 720.',
  'region.saved': 'Times are shown in {zone}, amounts are in {currency}.',
} as const;

export type RegionKey = keyof typeof regionEn;

const regionEs: Record<RegionKey, string> = {
  'region.zone': 'Zona horaria del almacén',
  'region.zoneHint':
    'Ahora allí es {now}. La consola, las etiquetas y los correos de los manifiestos muestran horas de esta zona. Los días de las facturas siguen en UTC.',
  'region.currency': 'Moneda',
  'region.currencyHint':
    'El código ISO 4217, por ejemplo USD o JMD. Da nombre a todas las sumas y no convierte ninguna. No se puede cambiar después de publicar una factura.',
  'region.missing': 'Horas hasta que falta un paquete entregado',
  'region.missingHint':
    'Falta un paquete si el transportista lo entregó y nadie lo escaneó en tantas horas. De 1 a 720.',
  'region.saved': 'Las horas se muestran en {zone}; las sumas son en {currency}.',
};

export const regionTexts = { en: regionEn, es: regionEs };
