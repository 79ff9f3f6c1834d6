/** The texts of announcements and of unknown parcels, in English. They load with these pages. */
export const announcedEn = {
  'unknown.claimants': 'Who says it is theirs',
  'unknown.who': 'User codes',
  'unknown.nobody': 'Nobody',
  'unknown.one': 'One: a suggestion',
  'unknown.several': '{count}: a dispute',
  'unknown.none': 'Every parcel has an owner',
  'unknown.noneHint': 'Parcels that nobody has announced appear here when they are received.',
  'unknown.elsewhere': 'It is not on this page of the list',
  'unknown.elsewhereHint': 'It may have an owner or a decision by now, or be further down in the list.',
  'unknown.all': 'Everything about the parcel',
  'unknown.nobodyHint':
    'Nobody has claimed or announced it. Look at the label. Couriers can claim it with the whole number.',
  'unknown.giveOther': 'Give it to another customer',
  'unknown.noCustomer': 'No active customer has this code',
  'unknown.claim': 'Claim',
  'unknown.announcement': 'Announcement',
  'unknown.since': 'Since',
  'unknown.afterReceipt': 'Announced after the parcel was received',
  'unknown.fewArrived':
    'Only {arrived} of the newest {submitted} numbers that this courier announced in 30 days arrived. It may be guessing: ask for a document.',
  'unknown.noneArrived':
    'None of the newest {submitted} numbers that this courier announced in 30 days arrived. It may be guessing: ask for a document.',
  'unknown.ofOther': 'The parcel is in the account of another courier, so it cannot be given to this one.',
  'unknown.give': 'Give it to this customer',
  'unknown.refuse': 'Refuse the claim',
  'unknown.giveTitle': 'Who gets {number}',
  'unknown.gets': 'The parcel goes to',
  'unknown.others': 'The others:',
  'unknown.claimRefused': 'the claim is refused. The courier learns that, and not who the owner is.',
  'unknown.announcementClosed':
    'the announcement is closed. Later scans of this parcel do not flag it again.',
  'unknown.effect':
    'The courier of the new owner is told at once. You cannot undo this. A correction of the parcel can change its owner later.',
  'unknown.giveTo': 'Give the parcel to {code}',
  'unknown.reasonHidden': 'What you saw, for example the name on the label. For the audit log only.',
  'unknown.refuseTitle': 'Refuse the claim',
  'unknown.refuseEffect':
    'The claim ends. The parcel and other claims stay as they are. The courier can claim the number again.',
  'unknown.reasonRead': 'The courier reads this. Do not name other couriers or customers.',
  'unknown.refused': 'The claim is refused.',
  'announcements.search': 'Number, user code, name or vendor',
  'announcements.noneHint': 'Couriers announce their parcels here. You can do it for them.',
  'announcements.flagged': 'Flagged: {count}',
  'announcements.flaggedHint': 'It is in doubt who owns this parcel. Look at its label, then review.',
  'announcements.others': 'The same number, announced by others',
  'announcements.several': 'Several couriers have announced this number. Which announcement do you mean?',
  'announcements.unknown': 'Nobody has announced {number}',
  'announcements.unknownHint': 'It may have been taken back, or its number was changed.',
  'announcements.find': 'Find the parcel',
  'announcements.edit': 'Edit the announcement',
  'announcements.codeHint': 'Of an active customer of {courier}.',
  'announcements.takeBack': 'Take back',
  'announcements.takeBackTitle': 'Take back {number}',
  'announcements.takeBackEffect':
    'The announcement of {courier} for {customer} is deleted for ever, also for the courier. If the parcel arrives later, it has no owner until somebody gives it one. A parcel that is received keeps its owner.',
  'announcements.staysFlagged': 'If {courier} announces this number again, it is flagged again.',
  'announcements.takenBack': '{number} is taken back.',
  'announcements.unlikely': '{number} is announced, but it does not look like a tracking number. Check it.',
  'announcements.uploadHint':
    'A workbook (.xlsx) or a CSV file with the columns tracking_number and user_code, and optionally vendor, description and reference. Of a workbook, the first sheet with content is read. The file is checked first, and nothing is stored before you confirm.',
  'announcements.store': 'Announce now ({count})',
  'announcements.uploaded': 'Announced: {created}. Known before: {duplicate}.',
  'announcements.nothingNew': 'The file is valid, but has nothing new.',
  'announcements.duplicate': 'Known before',
  'announcements.differ':
    'Announced before for another customer than the file says, and not changed: {count}.',
  'announcements.differRow': 'Row {row}: belongs to {customer}',
} as const;

export type AnnouncedKey = keyof typeof announcedEn;
