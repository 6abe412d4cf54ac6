"""Turn folders into values, and values into folders; nothing else here touches the disk."""
