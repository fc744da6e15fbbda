// The content of a Telegram message as text and files. Total: an unknown kind becomes a line that names it.

import * as v from 'valibot';
import { relayLimits } from '../../protocol/limits.ts';
import { oneLine } from '../../protocol/lines.ts';
import type { Forwarded, PhoneFile } from '../../protocol/log.ts';
import { megabytes } from '../../protocol/size.ts';
import { markdownOf } from './markdown.ts';

const size = v.optional(v.pipe(v.number(), v.minValue(0)));
const name = v.optional(v.string());
const file = v.looseObject({ file_id: v.string(), file_size: size, file_name: name, mime_type: name });
const place = v.looseObject({ latitude: v.number(), longitude: v.number() });
const named = v.looseObject({ title: name, first_name: name, last_name: name, username: name });

/** The fields of a message that carry content; inbound.ts has the other fields. */
export const contentEntries = {
  text: name,
  caption: name,
  entities: v.optional(v.unknown()),
  caption_entities: v.optional(v.unknown()),
  photo: v.optional(v.array(file)),
  document: v.optional(file),
  audio: v.optional(file),
  video: v.optional(file),
  animation: v.optional(file),
  voice: v.optional(file),
  video_note: v.optional(file),
  sticker: v.optional(
    v.looseObject({
      ...file.entries,
      emoji: name,
      is_animated: v.optional(v.boolean()),
      is_video: v.optional(v.boolean()),
    }),
  ),
  location: v.optional(v.looseObject({ ...place.entries, live_period: v.optional(v.number()) })),
  venue: v.optional(v.looseObject({ location: place, title: v.string(), address: v.string() })),
  contact: v.optional(v.looseObject({ phone_number: v.string(), first_name: v.string(), last_name: name })),
  poll: v.optional(v.looseObject({ question: v.string(), options: v.array(v.looseObject({ text: v.string() })) })),
  dice: v.optional(v.looseObject({ emoji: v.string(), value: v.number() })),
  forward_origin: v.optional(
    v.looseObject({
      sender_user: v.optional(named),
      sender_user_name: name,
      sender_chat: v.optional(named),
      chat: v.optional(named),
    }),
  ),
};

const contentSchema = v.looseObject(contentEntries);

type ContentMessage = v.InferOutput<typeof contentSchema>;

export interface Content {
  text: string;
  /** The text with links and code as Markdown, where Markdown says more. */
  markdown?: string;
  /** The author of a forwarded text; a forwarded text is never an order of the owner. */
  forwarded?: Forwarded;
  files?: PhoneFile[];
  tooLarge?: { name: string; bytes: number }[];
}

/** Null for service messages. */
export function contentOf(message: ContentMessage): Content | null {
  const attached = fileOf(message);
  const words = message.text ?? message.caption ?? wordsOf(message);
  if (attached === null && words === null) return unknownContent(message);
  const isTooLarge = attached !== null && (attached.bytes ?? 0) > relayLimits.fileDownBytes;
  const { kind, name, bytes = 0 } = attached ?? { kind: '', name: '' };
  const note = isTooLarge ? `[${kind} ${name}, ${megabytes(bytes)}: too large to be fetched]` : '';
  const marked =
    message.text === undefined
      ? markdownOf(words ?? '', message.caption === undefined ? undefined : message.caption_entities)
      : markdownOf(message.text, message.entities);
  const withNote = (said: string) => [said, note].filter((line) => line !== '').join('\n');
  return {
    text: withNote(words ?? ''),
    ...(marked === (words ?? '') ? {} : { markdown: withNote(marked) }),
    ...forwardedOf(message),
    ...(attached === null || isTooLarge ? {} : { files: [attached] }),
    ...(isTooLarge ? { tooLarge: [{ name, bytes }] } : {}),
  };
}

/** The kind and name of a quoted message without text. */
export function kindOf(message: ContentMessage): string | null {
  const attached = fileOf(message);
  return attached === null ? wordsOf(message) : `[${attached.kind} ${attached.name}]`;
}

function fileOf(message: ContentMessage): PhoneFile | null {
  const { photo, animation, document, voice, audio, video, video_note, sticker } = message;
  const largest = photo === undefined ? undefined : largestPhoto(photo);
  if (largest) return phoneFile('photo', largest, 'photo.jpg');
  // An animation also carries a document.
  if (animation) return phoneFile('animation', animation, 'animation.mp4');
  if (document) return phoneFile('document', document, 'document');
  if (voice) return phoneFile('voice', voice, 'voice.ogg');
  if (audio) return phoneFile('audio', audio, 'audio.mp3');
  if (video) return phoneFile('video', video, 'video.mp4');
  if (video_note) return phoneFile('video', video_note, 'video-note.mp4');
  if (sticker)
    return phoneFile('sticker', sticker, `sticker.${sticker.is_video ? 'webm' : sticker.is_animated ? 'tgs' : 'webp'}`);
  return null;
}

type FileFields = v.InferOutput<typeof file>;

function phoneFile(kind: PhoneFile['kind'], { file_id, file_name, file_size }: FileFields, made: string): PhoneFile {
  return { id: file_id, kind, name: file_name || made, ...(file_size === undefined ? {} : { bytes: file_size }) };
}

/** The largest photo that can be fetched; Telegram lists sizes in rising order. */
function largestPhoto(sizes: readonly FileFields[]): FileFields | undefined {
  return sizes.findLast(({ file_size }) => (file_size ?? 0) <= relayLimits.fileDownBytes) ?? sizes.at(0);
}

function wordsOf({ sticker, venue, location, contact, poll, dice }: ContentMessage): string | null {
  if (sticker) return `[sticker${sticker.emoji ? ` ${sticker.emoji}` : ''}]`;
  // A venue also carries a location.
  if (venue) return `[venue ${venue.title}, ${venue.address}, ${placeText(venue.location)}]`;
  if (location) return `[location ${placeText(location)}]`;
  if (contact) return `[contact ${nameText(contact)}, ${contact.phone_number}]`;
  if (poll) return `[poll ${poll.question} ${poll.options.map(({ text }) => text).join(' / ')}]`;
  if (dice) return `[dice ${dice.emoji} ${dice.value}]`;
  return null;
}

function placeText({ latitude, longitude }: { latitude: number; longitude: number }): string {
  return `${latitude}, ${longitude}`;
}

function nameText(person: { first_name?: string | undefined; last_name?: string | undefined }): string {
  return [person.first_name, person.last_name].filter((part) => part).join(' ');
}

const maxNameUnits = 64;

function forwardedOf({ forward_origin: origin }: ContentMessage): { forwarded?: Forwarded } {
  if (origin === undefined) return {};
  const chat = origin.chat ?? origin.sender_chat;
  const from = origin.sender_user_name ?? (origin.sender_user ? nameText(origin.sender_user) : chat?.title);
  return { forwarded: { from: oneLine(from ?? '', maxNameUnits) } };
}

/** Fields that do not tell the kind of a message. */
const plainFields =
  /^(message_id|message_thread_id|is_topic_message|date|edit_date|chat|from|sender_.*|forward_.*|is_automatic_forward|is_from_offline|is_paid_post|reply_.*|external_reply|quote|via_bot|has_.*|media_group_id|author_signature|business_connection_id|direct_messages_topic|paid_star_count|entities|caption.*|link_preview_options|effect_id|show_caption_above_media|suggested_post_info|ephemeral_.*)$/;
/** Fields of service messages, which the platform itself writes into a chat. */
const serviceFields =
  /^(new_chat_.*|left_chat_.*|delete_chat_photo|.*_chat_created|message_auto_delete_timer_changed|migrate_.*|pinned_message|.*_payment|users?_shared|chat_shared|connected_website|write_access_allowed|passport_data|proximity_alert_triggered|boost_added|chat_background_set|chat_owner_.*|checklist_tasks_.*|.*_price_changed|.*forum_topic_.*|giveaway_created|giveaway_completed|video_chat_.*|voice_chat_.*|web_app_data|(unique_)?gift.*|suggested_post_.*|managed_bot_.*|poll_option_.*)$/;

function unknownContent(message: ContentMessage): Content | null {
  const telling = Object.keys(message).filter((field) => !plainFields.test(field));
  if (telling.length === 0 || telling.some((field) => serviceFields.test(field))) return null;
  const kind = (telling[0] ?? '').replace(/[^a-z0-9]+/gi, ' ').slice(0, 40);
  return { text: `[${kind}: wa-sync cannot pass this on]`, ...forwardedOf(message) };
}
