"""Compressed memos, paper C, and MemoChat: writing, compressing, finding, keeping few."""
