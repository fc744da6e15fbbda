// Telegram updates of a test's owner: the smallest that the relay takes.

export interface UpdateOptions {
  chatId: string;
  userId?: string;
  updateId: number;
}

export function textUpdate(text: string, { chatId, userId = chatId, updateId }: UpdateOptions): object {
  return {
    update_id: updateId,
    message: {
      message_id: updateId,
      date: Math.floor(Date.now() / 1000),
      chat: { id: Number(chatId), type: 'private' },
      from: { id: Number(userId), is_bot: false, first_name: 'Test' },
      text,
    },
  };
}
