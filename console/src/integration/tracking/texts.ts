/** The texts of tracking pages, in both languages: they are few, and load with what shows them. */
export const trackingTexts = {
  en: {
    'tracking.title': 'Tracking pages',
    'tracking.lead':
      'Customers see where their parcel is, under your name and logo, with a link that nobody can guess. Make it on the page of a parcel.',
    'tracking.isOn': 'Links to tracking pages work',
    'tracking.isSearchOn': 'Customers also find parcels with the number and their last name',
    'tracking.searchHint': 'The page of the search: {link}',
    'tracking.showsAmount': 'Pages show the amount that is set for a parcel',
    'tracking.currency': 'Currency of these amounts',
    'tracking.currencyHint': 'An ISO code, for example CRC. Empty for that of the warehouse.',
    'tracking.zone': 'Time zone of the branches',
    'tracking.zoneOfWarehouse': 'That of the warehouse',
    'tracking.days': 'Days from the flight to the branch',
    'tracking.daysHint': 'Empty shows the date of the flight alone.',
    'tracking.noteEn': 'Text for customers in English',
    'tracking.noteEs': 'Text for customers in Spanish',
    'tracking.noteHint': 'For example where and when parcels are collected.',
    'tracking.saved': 'The settings of tracking pages are saved.',
    'tracking.link': 'Tracking page',
    'tracking.copy': 'Copy link',
    'tracking.copied': 'The link is copied. Send it to the customer only.',
    'tracking.open': 'Open the page',
    'tracking.replace': 'Replace link',
    'tracking.replaceEffect':
      'The present link stops working at once, also for the customer who has it. Send the new one.',
    'tracking.end': 'End link',
    'tracking.endEffect': 'Nobody can open the page any more. You can make another link later.',
    'tracking.replaced': 'The link is replaced. Copy the new one.',
    'tracking.ended': 'The link has ended.',
    'tracking.off':
      'The page is not shown now: tracking pages are switched off, or the parcel arrived long ago.',
    'tracking.none': 'No link has been made.',
    'tracking.amount': 'To pay',
    'tracking.amountHint': 'What the customer owes you for the parcel. Empty for nothing.',
    'tracking.setAmount': 'Set amount',
    'tracking.amountSet': 'The amount is saved.',
  },
  es: {
    'tracking.title': 'Páginas de rastreo',
    'tracking.lead':
      'Los clientes ven dónde está su paquete, con su nombre y logotipo, mediante un enlace que nadie puede adivinar. Créelo en la página de un paquete.',
    'tracking.isOn': 'Los enlaces a páginas de rastreo funcionan',
    'tracking.isSearchOn': 'Los clientes también buscan paquetes con el número y su apellido',
    'tracking.searchHint': 'La página de búsqueda: {link}',
    'tracking.showsAmount': 'Las páginas muestran el importe fijado para un paquete',
    'tracking.currency': 'Moneda de estos importes',
    'tracking.currencyHint': 'Un código ISO, por ejemplo CRC. Vacío para la del almacén.',
    'tracking.zone': 'Zona horaria de las sucursales',
    'tracking.zoneOfWarehouse': 'La del almacén',
    'tracking.days': 'Días del vuelo a la sucursal',
    'tracking.daysHint': 'Vacío muestra solo la fecha del vuelo.',
    'tracking.noteEn': 'Texto para clientes en inglés',
    'tracking.noteEs': 'Texto para clientes en español',
    'tracking.noteHint': 'Por ejemplo, dónde y cuándo se retiran los paquetes.',
    'tracking.saved': 'Se guardaron los ajustes de las páginas de rastreo.',
    'tracking.link': 'Página de rastreo',
    'tracking.copy': 'Copiar enlace',
    'tracking.copied': 'El enlace está copiado. Envíelo solo al cliente.',
    'tracking.open': 'Abrir la página',
    'tracking.replace': 'Cambiar enlace',
    'tracking.replaceEffect':
      'El enlace actual deja de funcionar enseguida, también para el cliente que lo tiene. Envíe el nuevo.',
    'tracking.end': 'Terminar enlace',
    'tracking.endEffect': 'Nadie podrá abrir la página. Más tarde puede crear otro enlace.',
    'tracking.replaced': 'Se cambió el enlace. Copie el nuevo.',
    'tracking.ended': 'El enlace terminó.',
    'tracking.off':
      'La página no se muestra ahora: las páginas de rastreo están desactivadas o el paquete llegó hace mucho.',
    'tracking.none': 'No se ha creado ningún enlace.',
    'tracking.amount': 'Por pagar',
    'tracking.amountHint': 'Lo que el cliente le debe por el paquete. Vacío si no debe nada.',
    'tracking.setAmount': 'Fijar importe',
    'tracking.amountSet': 'Se guardó el importe.',
  },
} as const;

export type TrackingKey = keyof typeof trackingTexts.en;

/** Failures that only tracking pages have. */
export const trackingFailuresEs = {
  package_without_customer: 'El paquete no tiene cliente. Asígnele uno primero.',
  tracking_link_not_found: 'El paquete no tiene enlace de rastreo. Cree uno primero.',
};
